import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AccountView } from "../../api/accountQueries";
import { agentsQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { dollars } from "../../lib/words";
import { Icon } from "../../ui/Icon";
import { SectionHead } from "../../ui/Section";
import { agentMark } from "../../ui/status";
import { nameOf } from "./usage";

/** Who runs on what: a lane for each account that is used. */
export function Lanes({ accounts }: { accounts: AccountView[] }) {
  const agents = useQuery(agentsQuery(useCw().client)).data ?? [];
  const byName = new Map(agents.map((one) => [one.name, one]));
  const used = accounts.filter((one) => (one.agents?.length ?? 0) > 0);
  if (used.length === 0) return null;
  return (
    <section aria-labelledby="lanes" className="border-t border-line pb-4">
      <SectionHead id="lanes" title="Who runs on what" />
      <div className="grid grid-cols-[repeat(auto-fill,minmax(13rem,1fr))] items-start gap-x-6 gap-y-4 px-4">
        {used.map((account) => (
          <div key={account.id}>
            <h3 className="flex h-8 items-center gap-2 border-b border-line text-ink-2">
              <span className="truncate">{nameOf(account)}</span>
              <span className="text-ink-3 tabular-nums">{account.agents?.length}</span>
            </h3>
            <ul className="pt-1">
              {account.agents?.map((name) => {
                const agent = byName.get(name);
                const mark = agent && agentMark(agent);
                return (
                  <li key={name} className="flex h-6 items-center gap-2 max-tab:h-9">
                    {mark && <Icon name={mark.icon} small className={mark.tone} label={mark.word} />}
                    <Link to="/agents/$name" params={{ name }} className="min-w-0 flex-1 truncate hover:underline">{name}</Link>
                    {agent && <span className="text-12 text-ink-3 tabular-nums">{dollars(agent.costUsd)}</span>}
                  </li>
                );
              })}
            </ul>
          </div>
        ))}
      </div>
    </section>
  );
}
