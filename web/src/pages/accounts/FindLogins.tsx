import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Schema } from "../../api/client";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { inert } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { nameOf } from "./usage";

/** Logins that lie on the daemon's machine. Nothing is taken without a click. */
export function FindLogins({ onClose }: { onClose: () => void }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const found = useQuery({ queryKey: ["accounts", "found"], queryFn: async () => (await client.post("/v1/accounts/discover", { body: {} })).items ?? [], retry: false });
  const add = useMutation({
    mutationFn: (login: Schema<"FoundLogin">) => client.post("/v1/accounts", { body: { provider: login.provider, configDir: login.configDir } }),
    onSuccess: (account) => {
      say(`${nameOf(account)} is added. New runs may use it.`);
      void queries.invalidateQueries({ queryKey: ["accounts"] });
    },
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <Dialog title="Logins on this machine" onClose={onClose} wide>
      {found.error && <Failure what="They cannot be looked for" error={found.error} />}
      {found.isPending && !found.error && <Skeleton rows={3} />}
      {found.data?.length === 0 && <p className="text-ink-2">None was found. A login with the provider's own CLI, or a key in the daemon's environment, would stand here.</p>}
      <ul className="grid gap-2">
        {found.data?.map((login) => (
          <li key={`${login.provider} ${login.configDir ?? login.variable ?? ""}`} className="grid gap-1 border-t border-line pt-2">
            <div className="flex items-center gap-2">
              <span className="font-mid">{login.provider}</span>
              <span className="min-w-0 flex-1 truncate text-ink-2">{inert(login.email ?? login.configDir ?? login.variable ?? "")}</span>
              {login.account ? (
                <span className="text-12 text-ink-3">is {login.account} already</span>
              ) : (
                login.configDir && <Button acting={add.isPending && add.variables === login} disabled={login.trouble !== undefined} onClick={() => add.mutate(login)}>Add</Button>
              )}
            </div>
            {login.trouble && <p className="text-12 text-need">{inert(login.trouble)}</p>}
            {!login.account && !login.configDir && login.add && <Command text={inert(login.add)} />}
          </li>
        ))}
      </ul>
      <div><Button look="quiet" onClick={onClose}>Close</Button></div>
    </Dialog>
  );
}
