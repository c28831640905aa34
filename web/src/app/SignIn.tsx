import { wordsOf } from "../api/problem";
import { Command } from "../ui/Command";
import { Icon } from "../ui/Icon";

/** What is shown to a browser without a session: how to get one. */
export function SignIn({ error }: { error: unknown }) {
  return (
    <main className="mx-auto grid max-w-120 gap-4 px-6 pt-24">
      <h1 className="flex items-center gap-2 text-20 font-bold">
        <Icon name="u-brand" />
        cw
      </h1>
      {error ? (
        <p role="alert" className="rounded-box border border-fail/45 bg-fail-bg px-3 py-2">{wordsOf(error)}</p>
      ) : (
        <p className="text-14 text-ink-2">This browser has no session. It was never opened from here, or somebody ended it. Agents go on working.</p>
      )}
      <p className="text-14 text-ink-2">In a terminal on the machine that runs cw:</p>
      <Command text="cw open" />
    </main>
  );
}
