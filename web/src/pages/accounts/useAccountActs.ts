import { useQueryClient } from "@tanstack/react-query";
import type { AccountView } from "../../api/accountQueries";
import type { Schema } from "../../api/client";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { nameOf } from "./usage";

/** What can be done with an account. The page reads anew what an act changed, though its event says so, too. */
export function useAccountActs(account: AccountView) {
  const { client } = useCw();
  const queries = useQueryClient();
  const path = { ref: account.id };
  const name = nameOf(account);
  const anew = () => void queries.invalidateQueries({ queryKey: ["accounts"] });
  const failed = (error: unknown) => sayFailed(wordsOf(error));

  const refresh = useMutation({
    mutationFn: () => client.post("/v1/accounts/{ref}/usage", { path }),
    onSuccess: (read) => {
      if (read.trouble) sayFailed(`${name} could not be asked: ${read.trouble}`);
      anew();
    },
    onError: failed,
  });
  const test = useMutation({
    mutationFn: () => client.post("/v1/accounts/{ref}/test", { path }),
    onSuccess: (seen) => {
      const text = `${name}: ${seen.text}`;
      if (seen.ok) say(text);
      else sayFailed(text);
      anew();
    },
    onError: failed,
  });
  const change = useMutation({
    mutationFn: (body: Schema<"AccountSettings">) => client.post("/v1/accounts/{ref}/settings", { path, body }),
    onSuccess: anew,
    onError: failed,
  });
  const remove = useMutation({
    mutationFn: (drain: boolean) => client.delete("/v1/accounts/{ref}", { path, query: drain ? { drain } : {} }),
    onSuccess: (gone) => {
      say(gone.draining ? `${name} gets no new runs, and goes with its last agent.` : `${name} is forgotten. The costs of its runs stay.`);
      anew();
    },
  });
  return { refresh, test, change, remove };
}
