import type { UseMutationResult } from "@tanstack/react-query";
import type { AccountView } from "../../api/accountQueries";
import { count } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { nameOf } from "./usage";

interface Props {
  account: AccountView;
  act: UseMutationResult<unknown, Error, boolean>;
  onClose: () => void;
}

/** Asks before an account and its secret are forgotten: a secret does not come back. */
export function RemoveAccount({ account, act, onClose }: Props) {
  const agents = account.agents?.length ?? 0;
  return (
    <Dialog title={`Remove ${nameOf(account)}`} onClose={onClose}>
      <p>
        cw forgets the account and its secret. The costs of its runs stay.{" "}
        {agents > 0 && `${count(agents, "agent")} ${agents === 1 ? "uses" : "use"} it: it gets no new runs, and goes with the last of them.`}
      </p>
      {act.error && <Failure what="It was not removed" error={act.error} />}
      <div className="flex gap-2">
        <Button look="danger" acting={act.isPending} onClick={() => act.mutate(agents > 0, { onSuccess: onClose })}>{agents > 0 ? "Remove when free" : "Remove"}</Button>
        <Button look="quiet" onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
