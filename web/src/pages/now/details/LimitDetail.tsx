import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCw } from "../../../app/cw";
import { agentsQuery } from "../../../api/queries";
import { useNow } from "../../../lib/clock";
import { inert, oneLine, spanInWords } from "../../../lib/words";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Form } from "../../../ui/Form";
import { dayAndTime } from "../agents/thisSecond";
import { Fact, Facts, type DetailProps } from "../inbox/parts";

/** An account or a budget that holds work: until when, and whom. */
export function LimitDetail({ item }: DetailProps) {
  const { client } = useCw();
  const navigate = useNavigate();
  const now = useNow();
  const all = useQuery(agentsQuery(client)).data ?? [];
  const held = item.agents ?? [];
  const left = item.until ? Date.parse(item.until) - now : 0;
  return (
    <Form onSubmit={() => void navigate({ to: "/accounts" })}>
      <Title>{inert(item.text)}</Title>
      <Facts>
        {held.length > 0 && (
          <Fact name="Parked">
            {held.map((name, i) => (
              <span key={name}>
                {i > 0 && ", "}
                <Link to="/agents/$name" params={{ name }} className="font-mid underline decoration-line-3 underline-offset-2">{name}</Link>{" "}
                <span className="text-ink-2">{oneLine(all.find((one) => one.name === name)?.title ?? "")}</span>
              </span>
            ))}
          </Fact>
        )}
        {item.until && <Fact name="Until">{dayAndTime(item.until)}{left > 0 && `, in ${spanInWords(left)}`}</Fact>}
        {item.accountId && <Fact name="Account">{all.find((one) => held.includes(one.name))?.accountName || item.accountId}</Fact>}
      </Facts>
      <Acts note={item.until ? "They go on by themselves then, no work is lost" : "No work is lost"}>
        <Button type="submit" look="primary" keys="Enter">{item.accountId ? "Accounts" : "Budgets"}</Button>
      </Acts>
    </Form>
  );
}
