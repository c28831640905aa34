import { useQuery } from "@tanstack/react-query";
import { useCw } from "../../app/cw";
import { statusQuery } from "../../api/queries";
import { bytes } from "../../lib/words";
import { Command } from "../../ui/Command";
import { Icon } from "../../ui/Icon";

const steps = [
  { title: "Watch it once, without a key", text: "A scratch repository, scripted agents, a question and a merge. Takes about a minute.", command: "cw demo" },
  { title: "Give a goal to one agent", text: "When it ends you get a branch and a diff. Nothing is merged without you.", command: 'cw run "fix the flaky test in scheduler" -C ~/src/harbor' },
  { title: "Plan something larger", text: "Architect agents read the code and propose phases and tasks. You accept what you like.", command: 'cw initiative create "Idempotent webhooks"' },
];

/** What is shown before the first agent: how it comes, and what is there. */
export function NoAgents() {
  return (
    <section className="mx-auto grid max-w-164 gap-6 px-6 pt-16 pb-12 max-tab:pt-8">
      <div>
        <h2 className="text-20 font-bold tracking-tight">No agents yet</h2>
        <p className="max-w-[60ch] text-14 text-ink-2">Start one from a terminal in any git repository. It works in a worktree of its own, so your checkout stays as it is.</p>
      </div>
      <ol className="grid gap-6">
        {steps.map((step, i) => (
          <li key={step.command} className="grid grid-cols-[1.25rem_minmax(0,1fr)] gap-x-3">
            <span aria-hidden="true" className="text-ink-3 tabular-nums">{i + 1}</span>
            <div className="grid gap-2">
              <h3 className="text-14 font-bold">{step.title}</h3>
              <p className="text-ink-2">{step.text}</p>
              <Command text={step.command} />
            </div>
          </li>
        ))}
      </ol>
      <Machine />
    </section>
  );
}

/** The providers' programs and the disk, as they are here. */
function Machine() {
  const { client } = useCw();
  const providers = useQuery({ queryKey: ["providers"], queryFn: ({ signal }) => client.get("/v1/providers", { signal }) }).data?.items ?? [];
  const status = useQuery(statusQuery(client)).data;
  // Known ones that people may miss, beside those that are there.
  const told = providers.filter((one) => one.installed || one.name === "claude" || one.name === "codex");
  return (
    <dl className="grid gap-1 border-t border-line pt-6">
      {told.map((one) => (
        <div key={one.name} className="grid grid-cols-[1rem_8rem_minmax(0,1fr)] items-center gap-2">
          <Icon name={one.installed ? "s-idle" : "s-ready"} className={one.installed ? "text-done" : "text-ink-3"} />
          <dt className="font-mid">{one.name} {one.version}</dt>
          <dd className="text-ink-2">{one.installed ? "installed" : <>not installed{one.install && <>: <code>{one.install}</code></>}</>}</dd>
        </div>
      ))}
      {status && (
        <div className="grid grid-cols-[1rem_8rem_minmax(0,1fr)] items-center gap-2">
          <Icon name={status.diskLow ? "s-stalled" : "s-idle"} className={status.diskLow ? "text-need-mark" : "text-done"} />
          <dt className="font-mid">disk</dt>
          <dd className="text-ink-2">{bytes(status.freeBytes)} free{status.diskLow && `; no run starts below ${bytes(status.floorBytes)}`}</dd>
        </div>
      )}
    </dl>
  );
}
