import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCw } from "../../../app/cw";
import { everything } from "../../../api/queries";
import { count, inert } from "../../../lib/words";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Failure } from "../../../ui/Failure";
import { Form } from "../../../ui/Form";
import { Icon } from "../../../ui/Icon";
import { Skeleton } from "../../../ui/Skeleton";
import { Who, type DetailProps } from "../inbox/parts";
import { useAct } from "./useAct";

/** How many are named; the rest is counted. */
const NAMED = 5;

/** Changes that an agent suggests, to be accepted or dismissed together. */
export function ProposalDetail({ item, onDone }: DetailProps) {
  const { client } = useCw();
  const navigate = useNavigate();
  const read = useQuery({
    queryKey: ["proposals", "open", item.agentId],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/proposals", { query: { agent: item.agentId, status: ["open"], limit: 200, cursor }, signal })),
  });
  const ids = item.proposalIds ?? [];
  const decide = useAct<boolean>({
    act: (to, accept) => to.post(accept ? "/v1/proposals/accept" : "/v1/proposals/dismiss", { body: { ids } }),
    done: (accept) => `${count(ids.length, "proposal")} ${accept ? "accepted" : "dismissed"}`,
    onDone,
  });
  if (read.error) return <Failure what="The proposals cannot be read" error={read.error} onRetry={() => void read.refetch()} />;
  if (!read.data) return <Skeleton rows={4} />;
  const open = read.data.filter((one) => ids.includes(one.id));
  const all = ids.length > 1 ? `all ${ids.length}` : "it";
  return (
    <Form onSubmit={() => item.initiative && void navigate({ to: "/initiatives/$slug", params: { slug: item.initiative }, search: { view: "proposals" } })}>
      <Who item={item}>{item.initiative && <span className="truncate">{item.initiative}</span>}</Who>
      <Title>{count(ids.length, "proposal")}: {inert(ids.length > 1 ? item.text.replace(/: .*/s, "") : item.text)}</Title>
      <ul>
        {open.slice(0, NAMED).map((one) => (
          <li key={one.id} className="flex min-h-6 items-center gap-2">
            <Icon name="s-open" small className="text-need-mark" />
            <span className="min-w-0 truncate">
              {title(one.target)}: {inert(one.title)}
            </span>
            {one.action !== "create" && <span className="text-12 text-ink-3">{one.action}</span>}
          </li>
        ))}
        {open.length > NAMED && <li className="flex min-h-6 items-center gap-2 text-ink-3"><Icon name="u-more" small />and {open.length - NAMED} more</li>}
      </ul>
      <Acts note="Accepted, they change the plan at once">
        {item.initiative && <Button type="submit" look="primary" keys="Enter">Read as diffs</Button>}
        <Button keys="y" data-accept acting={decide.isPending && decide.variables === true} disabled={decide.isPending} onClick={() => decide.mutate(true)}>Accept {all}</Button>
        <Button look="quiet" keys="d" data-dismiss acting={decide.isPending && decide.variables === false} disabled={decide.isPending} onClick={() => decide.mutate(false)}>Dismiss {all}</Button>
      </Acts>
    </Form>
  );
}

const title = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
