import { useState, type ReactNode } from "react";
import type { Schema } from "../api/client";
import { Acts } from "../ui/Acts";
import { Button } from "../ui/Button";
import { Form } from "../ui/Form";
import { TextArea } from "../ui/TextArea";
import { forget, type Asked } from "./drafts";
import { QuestionForm } from "./QuestionForm";

/** What is said of a checkpoint. An alias, as the body of a request has more fields in later daemons. */
export type Verdict = Pick<Schema<"TaskVerdict">, "accept" | "comment" | "answers">;

type Task = Pick<Schema<"Task">, "id" | "type" | "questions">;

interface Props {
  task: Task;
  /** Before a question: whose it is, and which of several. */
  head?: (asked: Asked, place: string) => ReactNode;
  /** What is to be seen before somebody says yes or no; questions stand for themselves. */
  children?: ReactNode;
  /** The verdict that is under way. */
  acting: Verdict | null;
  onVerdict: (verdict: Verdict) => void;
  onNext?: (() => void) | undefined;
}

const action = { yes: "It is done", no: "Cannot be done", will: "What depends on it goes on", ask: "A note, for what comes after it" };
const words: Record<string, typeof action> = {
  "checkpoint:verify": { yes: "Accept", no: "Send back with the note", will: "Accepted, it is checked and merged", ask: "What is to be done otherwise" },
  "checkpoint:decision": { yes: "Decide", no: "Do not decide", will: "What depends on it reads your words", ask: "What you decide" },
};

/** The questions of a checkpoint. Their ids are short words: with the task before them drafts do not meet. */
export function askedOf(task: Task): Asked[] {
  return (task.questions ?? []).map((one, i) => ({ ...one, id: `${task.id}:${one.id || `q${i + 1}`}` }));
}

/** Answers with the ids that the task's questions have. */
function answersFor(task: Task, answers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id.slice(task.id.length + 1), answer]));
}

/** Forgets what was about to be answered, once it was said. */
export function forgetAnswers(task: Task): void {
  forget(askedOf(task).map((one) => one.id));
}

/** A person decides, says that something is done, or looks at a result: answers, a note, yes or no. */
export function CheckpointForm({ task, head, children, acting, onVerdict, onNext }: Props) {
  const [note, setNote] = useState("");
  const said = words[task.type] ?? action;
  const asked = askedOf(task);
  const comment = note.trim();
  const empty = comment === "";
  const needsWords = task.type === "checkpoint:decision" && asked.length === 0;
  const decide = (verdict: Verdict) => {
    if (acting === null) onVerdict(empty ? verdict : { ...verdict, comment });
  };
  const area = <TextArea label="Note" placeholder={asked.length > 0 ? "A note, for what comes after it" : said.ask} rows={1} value={note} onText={setNote} data-own={asked.length === 0 ? true : undefined} className="field-sizing-content max-h-32 resize-none" />;
  const no = (
    <Button data-dismiss acting={acting?.accept === false} disabled={acting !== null || empty} title={empty ? "Say in a note what is missing" : undefined} onClick={() => decide({ accept: false })}>{said.no}</Button>
  );
  if (asked.length > 0) {
    return (
      <QuestionForm questions={asked} head={head} acting={acting?.accept === true} note="What depends on it reads your answer" onSend={(answers) => decide({ accept: true, answers: answersFor(task, answers) })} onNext={onNext} acts={no}>
        {area}
      </QuestionForm>
    );
  }
  return (
    <Form onSubmit={() => !(needsWords && empty) && decide({ accept: true })}>
      {children}
      {area}
      <Acts note={said.will}>
        <Button type="submit" look="primary" keys="Enter" data-accept acting={acting?.accept === true} disabled={needsWords && empty}>{said.yes}</Button>
        {no}
        {onNext && <Button look="quiet" keys="n" onClick={onNext}>Next</Button>}
      </Acts>
    </Form>
  );
}
