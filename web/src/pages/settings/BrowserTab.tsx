import { useState } from "react";
import { Problem, wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { setTheme, themeOf, type Theme } from "../../app/theme";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { SectionHead } from "../../ui/Section";
import { Seg } from "../../ui/Seg";

/** How this browser shows cw, and its way out. */
export function BrowserTab() {
  const [theme, keep] = useState<Theme>(themeOf);
  const choose = (next: Theme) => {
    setTheme(next);
    keep(next);
  };
  return (
    <>
      <section aria-labelledby="theme" className="pb-4">
        <SectionHead id="theme" title="Light or dark" />
        <div className="px-4">
          <Seg label="Light or dark" value={theme} onChoose={choose} choices={[{ value: "system", text: "As the system says" }, { value: "light", text: "Light" }, { value: "dark", text: "Dark" }]} />
        </div>
      </section>
      <SignOut />
    </>
  );
}

function SignOut() {
  const { client } = useCw();
  const out = useMutation({
    mutationFn: () => client.delete("/v1/sessions/self"),
    onSuccess: () => client.session.drop(client.session.token),
    onError: (error) => {
      // A token that is no session cannot be ended here, but can be forgotten.
      if (error instanceof Problem && (error.status === 403 || error.status === 404)) client.session.drop(client.session.token);
      else sayFailed(wordsOf(error));
    },
  });
  return (
    <section aria-labelledby="session" className="border-t border-line pb-4">
      <SectionHead id="session" title="Session" />
      <div className="flex flex-wrap items-center gap-3 px-4">
        <Button acting={out.isPending} onClick={() => out.mutate()}>Sign out</Button>
        <span className="text-ink-2">Ends the session of this browser. Agents go on working; <code>cw open</code> lets it in again.</span>
      </div>
    </section>
  );
}
