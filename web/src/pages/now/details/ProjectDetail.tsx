import { useQueries, useQuery } from "@tanstack/react-query";
import { useCw } from "../../../app/cw";
import { initiativesQuery } from "../../../api/queries";
import type { Schema } from "../../../api/client";
import { inert } from "../../../lib/words";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Command } from "../../../ui/Command";
import { Form } from "../../../ui/Form";
import { Output, Who, type DetailProps } from "../inbox/parts";
import { useAct } from "./useAct";

type File = Schema<"ProjectFileView">;

/** Tasks that wait for a set-up: the file whose commands are not trusted yet, else the command that helps. */
export function ProjectDetail({ item, onDone }: DetailProps) {
  const { client } = useCw();
  const initiative = useQuery(initiativesQuery(client)).data?.find((one) => one.id === item.initiativeId);
  const files = useQueries({
    queries: (initiative?.projects ?? []).map((project) => ({
      queryKey: ["projects", "file", project.id],
      queryFn: ({ signal }: { signal: AbortSignal }) => client.get("/v1/projects/{ref}/file", { path: { ref: project.id }, signal }),
    })),
  });
  const asks = /trust/i.test(item.text);
  const file = asks ? files.map((one) => one.data).find((one) => one && one.present && !one.trusted && !one.problem) : undefined;
  const trust = useAct<File>({
    act: (to, one) => to.post("/v1/projects/{ref}/trust", { path: { ref: one.projectId }, body: { digest: one.digest ?? "" } }),
    done: (one) => `The commands of ${one.project} are trusted`,
    onDone,
  });
  return (
    <Form>
      <Who item={item} />
      <Title>{item.text.charAt(0).toUpperCase() + item.text.slice(1)}</Title>
      {file && <Output text={inert(file.content ?? "")} />}
      {(!file || trust.isError) && item.hint !== "" && <Command text={item.hint} />}
      <Acts note={file ? `Its commands are run as you, in worktrees of ${file.project}; another content is asked for anew` : undefined}>
        {file && <Button look="primary" acting={trust.isPending} onClick={() => trust.mutate(file)}>Trust these commands</Button>}
      </Acts>
    </Form>
  );
}
