import { useState } from "react";
import type { AccountView } from "../../api/accountQueries";
import { count, dollars, exactTime, inert, tokens } from "../../lib/words";
import { Ago } from "../../ui/Ago";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Field } from "../../ui/Field";
import { RemoveAccount } from "./RemoveAccount";
import { useAccountActs } from "./useAccountActs";
import { nameOf } from "./usage";

/** The facts of an account and what can be done with it, each with what will happen. */
export function AccountDetail({ account }: { account: AccountView }) {
  const acts = useAccountActs(account);
  const [priority, setPriority] = useState(String(account.priority));
  const [removing, setRemoving] = useState(false);
  const own = account.kind === "own";
  const wanted = Number(priority);
  const changed = priority.trim() !== "" && Number.isInteger(wanted) && wanted !== account.priority;
  return (
    <div className="grid gap-3 border-t border-line bg-sunken px-4 py-3">
      {account.invalid && (
        <div className="grid max-w-164 gap-2">
          <p className="break-words text-fail">{inert(account.invalid)} New runs go to other accounts.</p>
          {account.logIn && <Command text={account.logIn} />}
        </div>
      )}
      {!account.invalid && account.notLoggedIn && (
        <div className="grid max-w-164 gap-2">
          <p className="break-words text-fail">{inert(account.notLoggedIn)}. New runs go to other accounts.</p>
          {account.logIn && <Command text={account.logIn} />}
        </div>
      )}
      {account.exhaustedText && <p className="break-words text-ink-2">The provider says: {inert(account.exhaustedText)}</p>}
      <Facts account={account} />
      <div className="flex flex-wrap items-center gap-2">
        <Button acting={acts.test.isPending} onClick={() => acts.test.mutate()} keys="t">Test</Button>
        <Button acting={acts.refresh.isPending} onClick={() => acts.refresh.mutate()}>Read use anew</Button>
        <Button acting={acts.change.isPending} onClick={() => acts.change.mutate({ enabled: !account.enabled })} keys="o">{account.enabled ? "Turn off" : "Turn on"}</Button>
        <form
          className="inline-flex items-center gap-1"
          onSubmit={(event) => {
            event.preventDefault();
            if (changed) acts.change.mutate({ priority: wanted });
          }}
        >
          <span className="text-12 text-ink-3">Priority</span>
          <Field label={`Priority of ${nameOf(account)}`} className="w-16" inputMode="numeric" value={priority} onText={setPriority} />
          {changed && <Button type="submit" acting={acts.change.isPending}>Save</Button>}
        </form>
        {!own && <Button look="danger" className="ml-auto max-tab:ml-0" onClick={() => setRemoving(true)}>Remove…</Button>}
      </div>
      <p className="text-12 text-ink-3">
        {account.enabled ? "Turned off, it gets no new runs; those that are under way go on." : "Turned on, new runs may use it."} Accounts with a greater priority are used first.
      </p>
      {removing && <RemoveAccount account={account} act={acts.remove} onClose={() => setRemoving(false)} />}
    </div>
  );
}

function Facts({ account }: { account: AccountView }) {
  const total = account.tokens.inputTokens + account.tokens.outputTokens;
  const facts: [string, string | undefined | null][] = [
    ["Login", account.email],
    ["Address", account.baseUrl],
    ["Folder", account.configDir],
    ["Of all time", `${dollars(account.costUsd)}, ${tokens(total)} tokens`],
    ["Added", exactTime(account.createdAt)],
  ];
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-12">
      {facts.map(([name, value]) => value && (
        <div key={name} className="flex min-w-0 gap-1.5">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-all text-ink-2">{inert(value)}</dd>
        </div>
      ))}
      <div className="flex gap-1.5">
        <dt className="text-ink-3">Use read</dt>
        <dd className="text-ink-2">{account.usageAt ? <><Ago at={account.usageAt} /> ago</> : "never"}</dd>
      </div>
      <div className="flex gap-1.5">
        <dt className="text-ink-3">Runs on it</dt>
        <dd className="text-ink-2">{count(account.agents?.length ?? 0, "agent")}</dd>
      </div>
    </dl>
  );
}
