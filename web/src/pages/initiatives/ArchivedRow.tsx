import { Link } from "@tanstack/react-router";
import type { Schema } from "../../api/client";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";

/** An initiative that was put away: it can be looked at, and taken out again. */
export function ArchivedRow({ one }: { one: Schema<"Initiative"> }) {
  const { client } = useCw();
  const take = useMutation({
    mutationFn: () => client.post("/v1/initiatives/{initiative}", { path: { initiative: one.slug }, body: { archived: false } }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <li className="flex min-h-9 items-center gap-3 px-4">
      <Icon name="s-archived" className="text-ink-3" />
      <Link to="/initiatives/$slug" params={{ slug: one.slug }} className="min-w-0 flex-1 truncate text-ink-2 hover:text-ink">{one.name}</Link>
      <Button look="quiet" acting={take.isPending} onClick={() => take.mutate()}>Take out</Button>
    </li>
  );
}
