import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCw } from "../../../app/cw";
import { count } from "../../../lib/words";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Command } from "../../../ui/Command";
import { Failure } from "../../../ui/Failure";
import { Form } from "../../../ui/Form";
import { Skeleton } from "../../../ui/Skeleton";
import { Who, type DetailProps } from "../inbox/parts";
import { useAct } from "./useAct";

const ways: Record<string, string> = {
  "up-to-date": "has everything already",
  "fast-forward": "moves forward, without a merge commit",
  "checked-out": "moves forward, and so do the files of your checkout",
  merge: "gets a merge commit",
};

/** An initiative that is done: what landing its branch will do, and the button that does it. */
export function LandingDetail({ item, onDone }: DetailProps) {
  const { client } = useCw();
  const initiative = item.initiativeId ?? "";
  const path = { initiative };
  const plan = useQuery({
    queryKey: ["initiatives", "landing", initiative],
    queryFn: ({ signal }) => client.post("/v1/initiatives/{initiative}/land", { path, body: { dryRun: true }, signal }),
    retry: false,
  });
  const land = useAct({ act: (to) => to.post("/v1/initiatives/{initiative}/land", { path, body: {} }), done: () => `Landed ${item.initiative}`, onDone });
  return (
    <Form>
      <Who item={item} />
      <Title>{item.text.charAt(0).toUpperCase() + item.text.slice(1)}</Title>
      {plan.isPending && <Skeleton rows={2} />}
      {plan.error && <Failure what="It cannot be landed now" error={plan.error} onRetry={() => void plan.refetch()} />}
      <ul className="grid gap-1">
        {(plan.data?.items ?? []).map((one) => (
          <li key={one.projectId}>
            <b className="font-mid">{one.project}</b>: <code>{one.into}</code> {ways[one.how] ?? one.how}. {count(one.commits, "commit")}, {count(one.stat.filesChanged, "file")},{" "}
            <span className="text-done">+{one.stat.additions}</span> <span className="text-fail">−{one.stat.deletions}</span>
            {one.note && <span className="text-ink-2"> {one.note}</span>}
          </li>
        ))}
      </ul>
      {plan.error && item.hint !== "" && <Command text={item.hint} />}
      <Acts note="Nothing is pushed">
        <Button look="primary" acting={land.isPending} disabled={!plan.data} onClick={() => land.mutate()}>Land</Button>
        <Link to="/review/$noun/$ref" params={{ noun: "initiative", ref: item.initiative ?? "" }} className="inline-flex h-(--control) items-center rounded-box px-2.5 font-mid text-ink-2 hover:bg-hover hover:text-ink">
          Read the diff
        </Link>
      </Acts>
    </Form>
  );
}
