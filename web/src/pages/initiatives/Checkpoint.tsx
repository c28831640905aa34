import { useId, useState } from "react";
import type { Schema } from "../../api/client";
import type { Task } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { inert } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";

type Question = Schema<"TaskQuestion"> & { id: string };

/** What a question without an id of its own is called. */
function idOf(question: Schema<"TaskQuestion">, i: number): string {
  return question.id ?? `q${i + 1}`;
}

const words: Record<string, { title: string; accept: string; reject: string; says: string }> = {
  "checkpoint:verify": { title: "Look at the result", accept: "Accept", reject: "Reject", says: "Accepted, it is merged. Rejected, its agent goes on with your comment." },
  "checkpoint:decision": { title: "Decide", accept: "Decide", reject: "Reject", says: "What comes after it is told your answers." },
};
const action = { title: "Do it, then confirm", accept: "It is done", reject: "It cannot be done", says: "Confirmed, what comes after it starts." };

/** What a person says of a checkpoint: answers, a comment, yes or no. */
export function Checkpoint({ task }: { task: Task }) {
  const { client } = useCw();
  const [comment, setComment] = useState("");
  const [answers, setAnswers] = useState<Record<string, string[]>>({});
  const id = useId();
  const questions = (task.questions ?? []).map((one, i): Question => ({ ...one, id: idOf(one, i) }));
  const decide = useMutation({
    mutationFn: (accept: boolean) =>
      client.post("/v1/tasks/{task}/verdict", { path: { task: task.id }, body: { accept, comment: comment.trim() || undefined, answers: accept && questions.length > 0 ? given(questions, answers) : undefined } }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const say = words[task.type] ?? action;
  const open = questions.some((one) => (answers[one.id] ?? []).every((text) => text.trim() === ""));
  const lacksWords = task.type === "checkpoint:decision" && questions.length === 0 && comment.trim() === "";
  return (
    <section aria-label={say.title} className="grid gap-3 rounded-box border border-line">
      <h3 className="rounded-t-box bg-need-bg px-3 py-1.5 font-mid">{say.title}</h3>
      {questions.map((question) => (
        <OneQuestion key={question.id} question={question} chosen={answers[question.id] ?? []} onChoose={(chosen) => setAnswers({ ...answers, [question.id]: chosen })} />
      ))}
      <div className="grid gap-1 px-3">
        <label htmlFor={id} className="text-12 text-ink-2">Comment, for whoever works on it next</label>
        <textarea id={id} rows={2} value={comment} onInput={(event) => setComment(event.currentTarget.value)} className="rounded-box border border-line-2 bg-sunken px-2 py-1.5" />
      </div>
      <div className="flex flex-wrap items-center gap-2 px-3 pb-3">
        <Button look="primary" disabled={open || lacksWords} acting={decide.isPending && decide.variables} onClick={() => decide.mutate(true)}>{say.accept}</Button>
        <Button disabled={comment.trim() === ""} title={comment.trim() === "" ? "Say in the comment why" : undefined} acting={decide.isPending && !decide.variables} onClick={() => decide.mutate(false)}>{say.reject}</Button>
        <span className="text-12 text-ink-3">{say.says}</span>
      </div>
    </section>
  );
}

function OneQuestion({ question, chosen, onChoose }: { question: Question; chosen: string[]; onChoose: (chosen: string[]) => void }) {
  const name = useId();
  const options = question.options ?? [];
  const labels = options.map((one) => one.label);
  const own = chosen.find((one) => !labels.includes(one)) ?? "";
  const toggle = (label: string) => {
    if (!question.multiSelect) onChoose([label]);
    else onChoose(chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label]);
  };
  const write = (text: string) => onChoose([...(question.multiSelect ? chosen.filter((one) => labels.includes(one)) : []), ...(text === "" ? [] : [text])]);
  return (
    <fieldset className="grid gap-1 px-3">
      <legend className="mb-1 text-14 font-mid">{inert(question.question)}</legend>
      {options.map((option) => (
        <label key={option.label} className="flex items-start gap-2 rounded-box border border-line-2 px-2 py-1.5 hover:bg-hover has-checked:border-ink has-checked:bg-select">
          <input type={question.multiSelect ? "checkbox" : "radio"} name={name} className="mt-1" checked={chosen.includes(option.label)} onChange={() => toggle(option.label)} />
          <span>
            <span className="font-mid">{inert(option.label)}</span>
            {option.description && <span className="block text-12 text-ink-2">{inert(option.description)}</span>}
          </span>
        </label>
      ))}
      <input aria-label={`${question.question} In your own words`} placeholder={options.length > 0 ? "Or in your own words" : "Your answer"} value={own} onInput={(event) => write(event.currentTarget.value)} className="h-(--control) rounded-box border border-line-2 bg-sunken px-2" />
    </fieldset>
  );
}

/** The answers as the API takes them: one text, or a JSON array of labels. */
export function given(questions: Pick<Question, "id" | "multiSelect">[], answers: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(
    questions.map((one) => {
      const chosen = (answers[one.id] ?? []).map((text) => text.trim()).filter((text) => text !== "");
      return [one.id, one.multiSelect ? JSON.stringify(chosen) : (chosen[0] ?? "")];
    }),
  );
}
