import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { statusQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { desktopNotices, lookAtDesktopNotices, switchOff, switchOn, type DesktopNotices } from "../../app/desktopNotices";
import { useStore } from "../../lib/store";
import { useMutation } from "../../lib/useMutation";
import { exactTime, inert, oneLine } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Failure } from "../../ui/Failure";
import { Icon } from "../../ui/Icon";
import { SectionHead } from "../../ui/Section";

const says: Record<DesktopNotices, string> = {
  on: "This browser tells of new questions and crashes while you look elsewhere.",
  off: "Nothing is shown on the desktop. The title of the tab has the number of what waits for you.",
  denied: "This browser does not allow it for this page. Its settings do.",
  missing: "This browser has no notifications.",
};

/** How a person is told of what waits: by this browser, and by hooks of the daemon. */
export function NoticesTab() {
  return (
    <>
      <Desktop />
      <Hooks />
    </>
  );
}

function Desktop() {
  const state = useStore(desktopNotices);
  useEffect(lookAtDesktopNotices, []);
  return (
    <section aria-labelledby="desktop" className="pb-4">
      <SectionHead id="desktop" title="On this desktop" />
      <div className="flex flex-wrap items-center gap-3 px-4">
        {state === "on" ? <Button onClick={switchOff}>Switch off</Button> : <Button disabled={state !== "off"} onClick={() => void switchOn()}>Switch on</Button>}
        <span className="text-ink-2">{says[state]}</span>
      </div>
    </section>
  );
}

function Hooks() {
  const { client } = useCw();
  const status = useQuery(statusQuery(client));
  const hooks = status.data?.hooks ?? [];
  const test = useMutation({ mutationFn: async () => (await client.post("/v1/hooks/test")).items ?? [] });
  return (
    <section aria-labelledby="hooks" className="border-t border-line pb-4">
      <SectionHead id="hooks" title="Hooks" count={status.data && hooks.length}>
        {hooks.length > 0 && <Button className="ml-auto" acting={test.isPending} onClick={() => test.mutate()}>Send a test</Button>}
      </SectionHead>
      {status.error && <Failure what="The hooks cannot be read" error={status.error} onRetry={() => void status.refetch()} />}
      <ul>
        {hooks.map((hook) => {
          const trial = test.data?.find((one) => one.kind === hook.kind && one.target === hook.target);
          return (
            <li key={`${hook.kind} ${hook.target}`} className="grid gap-1 border-t border-line px-4 py-2">
              <div className="flex items-center gap-2">
                <Icon name={hook.error ? "s-error" : "s-idle"} className={hook.error ? "text-fail" : "text-done"} />
                <span className="font-mid">{hook.kind}</span>
                <code className="min-w-0 truncate text-ink-2">{oneLine(hook.target)}</code>
                {hook.lost > 0 && <span className="text-12 text-need">{hook.lost} given up</span>}
              </div>
              {hook.error && <p className="pl-6 text-12 break-words text-fail">{inert(hook.error)}{hook.failingSince ? ` Since ${exactTime(hook.failingSince)}.` : ""}</p>}
              {trial && <p role="status" className={`pl-6 text-12 break-words ${trial.ok ? "text-done" : "text-fail"}`}>{trial.ok ? "The test got through" : "The test failed"}: {inert(trial.detail)}</p>}
            </li>
          );
        })}
      </ul>
      {test.error && <Failure what="The test was not sent" error={test.error} />}
      {status.data && hooks.length === 0 && (
        <div className="grid max-w-164 gap-2 px-4 text-ink-2">
          <p>No hook is configured. With one, cw tells a program or an address of what waits for you, whether a browser is open or not.</p>
          <Command text="cw config set notify.command /path/to/program" />
          <Command text="cw config set notify.webhook https://example.com/hook" />
        </div>
      )}
    </section>
  );
}
