import { useQueryClient } from "@tanstack/react-query";
import type { Schema } from "../../../api/client";
import { Problem, wordsOf } from "../../../api/problem";
import { useCw } from "../../../app/cw";
import { sayFailed } from "../../../app/notices";
import { inert, spanInWords } from "../../../lib/words";
import { useMutation } from "../../../lib/useMutation";
import { answerInWords, forget } from "../../../questions/drafts";
import { QuestionForm } from "../../../questions/QuestionForm";
import { Status } from "../../../ui/Status";
import { markOf } from "../../../ui/status";
import { Tag } from "../../../ui/Tag";
import { Box } from "./Box";
import { Line } from "./Line";

type Question = Schema<"Question">;

/** Questions that were asked at once: to be answered here, or with what was answered. */
export function QuestionRow({ questions, agent }: { questions: Question[]; agent: string }) {
  const first = questions[0] as Question;
  const open = questions.filter((one) => one.status === "open");
  return (
    <Line at={first.createdAt} icon="s-waiting" tone="text-need-mark" look="box">
      {questions.filter((one) => one.status !== "open").map((one) => <Closed key={one.id} question={one} />)}
      {open.length > 0 && <Open questions={open} agent={agent} />}
    </Line>
  );
}

function Closed({ question }: { question: Question }) {
  const took = question.answeredAt ? ` in ${spanInWords(Date.parse(question.answeredAt) - Date.parse(question.createdAt))}` : "";
  const mark = markOf("question", question.status);
  const head = (
    <>
      <b className="font-mid text-ink">Question</b>
      <span className="min-w-0 flex-1 break-words text-ink">{inert(question.question)}</span>
      <Status mark={{ ...mark, word: `${mark.word.toLowerCase()}${took}` }} />
    </>
  );
  const answer = question.status === "answered" ? answerInWords(question.answer ?? "") : (question.reason ?? "");
  return <Box tone="need" head={head}>{answer === "" ? null : <p className="px-3 py-2 break-words whitespace-pre-line">{inert(answer)}</p>}</Box>;
}

function Open({ questions, agent }: { questions: Question[]; agent: string }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const again = () => Promise.all(["questions", "agents", "inbox"].map((key) => queries.invalidateQueries({ queryKey: [key] })));
  const answer = useMutation({
    mutationFn: (answers: Record<string, string>) => client.post("/v1/answers", { body: { answers } }),
    onSuccess: (_, answers) => forget(Object.keys(answers)),
    onSettled: again,
    onError: (error) => sayFailed(error instanceof Problem && error.status === 409 ? `Somebody answered first. ${wordsOf(error)}` : wordsOf(error)),
  });
  const first = questions[0] as Question;
  const says = first.source === "tool" ? `${agent} waits for this and goes on at once` : `${agent} goes on when its last question is answered`;
  return (
    <div id="open-questions">
      <Box tone="need" head={<b className="font-mid text-ink">{questions.length === 1 ? "Question" : `${questions.length} questions`}</b>}>
        <div className="px-3 py-2">
          <QuestionForm questions={questions} head={(asked, place) => <Which header={asked.header ?? ""} place={place} />} acting={answer.isPending} note={says} onSend={(answers) => answer.mutate(answers)} />
        </div>
      </Box>
    </div>
  );
}

/** What a question is about in a word, and which of several it is. */
function Which({ header, place }: { header: string; place: string }) {
  if (header === "" && place === "") return null;
  return (
    <p className="flex items-center gap-2 text-12 text-ink-3">
      {header !== "" && <Tag>{inert(header)}</Tag>}
      <span className="tabular-nums">{place}</span>
    </p>
  );
}
