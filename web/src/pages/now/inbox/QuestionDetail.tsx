import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useCw } from "../../../app/cw";
import { say, sayFailed } from "../../../app/notices";
import type { Schema } from "../../../api/client";
import { Problem, wordsOf } from "../../../api/problem";
import { agentsQuery } from "../../../api/queries";
import { inert, oneLine } from "../../../lib/words";
import { useMutation } from "../../../lib/useMutation";
import { forget } from "../../../questions/drafts";
import { QuestionForm } from "../../../questions/QuestionForm";
import { Failure } from "../../../ui/Failure";
import { Skeleton } from "../../../ui/Skeleton";
import { Tag } from "../../../ui/Tag";
import { Who, type DetailProps } from "./parts";

// Loaded when somebody else was first.
const AnsweredQuestions = lazy(() => import("./AnsweredQuestions").then((file) => ({ default: file.AnsweredQuestions })));

/** Questions of an agent, to be answered in place. When another browser was first it says who and what. */
export function QuestionDetail({ item, onDone, onNext }: DetailProps) {
  const { client, queries } = useCw();
  const ids = item.questionIds ?? [];
  const read = useQuery({
    queryKey: ["questions", "group", ...ids],
    queryFn: ({ signal }) => Promise.all(ids.map((id) => client.get("/v1/questions/{id}", { path: { id }, signal }))),
  });
  const agent = useQuery(agentsQuery(client)).data?.find((one) => one.id === item.agentId);
  const send = useMutation({
    mutationFn: (answers: Record<string, string>) => client.post("/v1/answers", { body: { answers } }),
    onSuccess: (_, answers) => {
      forget(Object.keys(answers));
      say(`Answered ${item.agent ?? "the question"}`);
      onDone();
    },
    onError: (error) => {
      // Somebody else was first: what they said is shown in place of the options.
      if (!(error instanceof Problem && error.status === 409)) sayFailed(wordsOf(error));
      void queries.invalidateQueries({ queryKey: ["questions"] });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["inbox"] }),
  });
  if (read.error && !read.data) return <Failure what="The question cannot be read" error={read.error} onRetry={() => void read.refetch()} />;
  const questions = read.data;
  if (!questions) return <Skeleton rows={4} />;
  const open = questions.filter((one) => one.status === "open");
  if (open.length === 0) {
    return (
      <Suspense fallback={<Skeleton rows={4} />}>
        <AnsweredQuestions item={item} questions={questions} onNext={onNext} />
      </Suspense>
    );
  }
  return (
    <QuestionForm
      key={item.key}
      questions={open}
      head={(question, place) => (
        <Who item={item}>
          {agent && !item.task && <span className="truncate">{oneLine(agent.title)}</span>}
          {question.header && <Tag>{inert(question.header)}</Tag>}
          {place !== "" && <span className="ml-auto flex-none tabular-nums">{place}</span>}
        </Who>
      )}
      acting={send.isPending}
      note={agent && effect(agent)}
      onSend={(answers) => send.mutate(answers)}
      onNext={onNext}
    />
  );
}

/** What an answer does. */
function effect(agent: Schema<"AgentView">): string {
  return agent.status === "running" ? "It goes on with your answer at once" : `Run ${agent.sessionNumber + 1} starts with your answer`;
}
