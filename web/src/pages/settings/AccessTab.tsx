import { useQuery, useQueryClient } from "@tanstack/react-query";
import { tokensQuery, type Token } from "../../api/settingsQueries";
import { Problem, wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { useNow } from "../../lib/clock";
import { useMutation } from "../../lib/useMutation";
import { exactTime, oneLine } from "../../lib/words";
import { Ago } from "../../ui/Ago";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Failure } from "../../ui/Failure";
import { SectionHead } from "../../ui/Section";
import { Tag } from "../../ui/Tag";
import { Skeleton } from "../../ui/Skeleton";
import { alive, kindOf } from "./access";

/** Who may call this daemon over HTTP: browsers and dashboards. */
export function AccessTab() {
  const tokens = useQuery(tokensQuery(useCw().client));
  const now = useNow();
  const refused = tokens.error instanceof Problem && tokens.error.status === 403;
  const living = (tokens.data ?? []).filter((one) => alive(one, now));
  const ended = (tokens.data?.length ?? 0) - living.length;
  return (
    <section aria-labelledby="access">
      <SectionHead id="access" title="Tokens and sessions" count={tokens.data && living.length}>
        {ended > 0 && <span className="text-ink-3">{ended} more {ended === 1 ? "has" : "have"} ended</span>}
      </SectionHead>
      {tokens.error && !refused && <Failure what="The tokens cannot be read" error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {refused && <p className="px-4 text-ink-2">This browser's token may not see others.</p>}
      {tokens.isPending && !tokens.error && <Skeleton rows={4} />}
      {tokens.data && living.length === 0 && <p className="px-4 pb-3 text-ink-3">None lives.</p>}
      <ul>{living.map((one) => <TokenRow key={one.id} token={one} />)}</ul>
      <div className="border-t border-line p-4">
        <div className="grid max-w-164 gap-2 text-ink-2">
          <p>Another browser is let in by a code that works once. A dashboard of your own gets a token. Both are made in a terminal on the machine that runs cw:</p>
          <Command text="cw open" />
          <Command text="cw token create --name wall-screen" />
        </div>
      </div>
    </section>
  );
}

function TokenRow({ token }: { token: Token }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.delete("/v1/tokens/{ref}", { path: { ref: token.id } }),
    onSuccess: () => say(`${token.name} is ended. Its next request is refused, and its open streams end.`),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tokens"] }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <li className="grid grid-cols-[minmax(8rem,1.5fr)_8rem_minmax(7rem,1fr)_minmax(8rem,1fr)_auto] items-center gap-x-3 border-t border-line px-4 py-1.5 max-tab:grid-cols-[minmax(0,1fr)_auto]">
      <span className="flex min-w-0 items-center gap-2"><span className="truncate font-mid">{oneLine(token.name)}</span>{token.current && <Tag>this browser</Tag>}</span>
      <span className="text-12 text-ink-2 max-tab:order-2">{kindOf(token)}</span>
      <span className="truncate text-12 text-ink-2 max-tab:order-2 max-tab:text-right">{token.session ? "all that a person may" : (token.scopes ?? []).join(", ")}</span>
      <span className="text-12 text-ink-3 max-tab:order-2 max-tab:col-span-2">
        {token.usedAt ? <>used <Ago at={token.usedAt} /> ago</> : <>made <Ago at={token.createdAt} /> ago</>}
        {token.expiresAt && <span title={exactTime(token.expiresAt)}>, ends {exactTime(token.expiresAt).slice(0, 11)}</span>}
      </span>
      <Button look="danger" className="justify-self-end" acting={revoke.isPending} aria-label={`End ${token.name}`} onClick={() => revoke.mutate()}>End</Button>
    </li>
  );
}
