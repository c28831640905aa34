import { useQuery } from "@tanstack/react-query";
import { accountsQuery } from "../../api/accountQueries";
import { providersQuery, type ProviderView } from "../../api/settingsQueries";
import { useCw } from "../../app/cw";
import { count, inert, oneLine } from "../../lib/words";
import { Command } from "../../ui/Command";
import { Failure } from "../../ui/Failure";
import { Icon } from "../../ui/Icon";
import { SectionHead } from "../../ui/Section";
import { Skeleton } from "../../ui/Skeleton";

/** The CLIs that agents run with: those on this machine first. */
export function ProvidersTab() {
  const { client } = useCw();
  const providers = useQuery(providersQuery(client));
  const accounts = useQuery(accountsQuery(client)).data ?? [];
  const all = [...(providers.data ?? [])].sort((a, b) => Number(b.installed) - Number(a.installed));
  const installed = all.filter((one) => one.installed).length;
  return (
    <section aria-labelledby="providers">
      <SectionHead id="providers" title="Providers" count={providers.data?.length}>
        {providers.data && <span className="text-ink-3">{installed} on this machine</span>}
      </SectionHead>
      {providers.error && <Failure what="The providers cannot be read" error={providers.error} onRetry={() => void providers.refetch()} />}
      {providers.isPending && !providers.error && <Skeleton rows={8} />}
      <ul>
        {all.map((one) => <ProviderRow key={one.name} provider={one} accounts={accounts.filter((each) => each.provider === one.accounts && each.enabled && !each.invalid && !each.notLoggedIn).length} />)}
      </ul>
    </section>
  );
}

function ProviderRow({ provider, accounts }: { provider: ProviderView; accounts: number }) {
  const look = provider.trouble
    ? { icon: "s-stalled", tone: "text-need-mark" }
    : provider.installed
      ? { icon: "s-idle", tone: "text-done" }
      : { icon: "s-pending", tone: "text-ink-3" };
  return (
    <li className="grid gap-1 border-t border-line px-4 py-2">
      <div className="grid grid-cols-[1rem_minmax(8rem,1fr)_minmax(7rem,1fr)_minmax(7rem,1fr)_minmax(6rem,1fr)] items-center gap-x-3 gap-y-1 max-tab:grid-cols-[1rem_minmax(0,1fr)_auto]">
        <Icon name={look.icon} className={look.tone} />
        <span className="truncate"><span className="font-mid">{oneLine(provider.title || provider.name)}</span> <span className="text-12 text-ink-3">{provider.title === provider.name ? "" : provider.name}</span></span>
        <span className="truncate text-12 text-ink-2">{provider.installed ? (oneLine(provider.version ?? "") || "on this machine") : "not on this machine"}</span>
        <span className="text-12 text-ink-2 max-tab:col-start-2">{!provider.installed ? "" : accounts > 0 ? `${count(accounts, "account")} to use` : "the CLI's own login"}</span>
        <span className="text-right text-12 text-ink-3">{provider.runs > 0 ? count(provider.runs, "run") : ""}</span>
      </div>
      {provider.trouble && <p className="pl-7 text-12 break-words text-need">{inert(provider.trouble)}</p>}
      {provider.unknownLines > 0 && <p className="pl-7 text-12 text-ink-2">{count(provider.unknownLines, "line")} of its output {provider.unknownLines === 1 ? "was" : "were"} not understood: its format may have changed.</p>}
      {!provider.installed && provider.install && <div className="max-w-164 pl-7 max-tab:pl-0"><Command text={inert(provider.install)} /></div>}
    </li>
  );
}
