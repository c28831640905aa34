import { useState, type ReactNode } from "react";
import { inert } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import { Options } from "./Options";
import { answerOf, isAnswered, kept, noDraft, pick, write, type Asked, type Draft } from "./drafts";
import { Acts, Title } from "./parts";

interface Props {
  questions: Asked[];
  /** Before the title: who asks, given the question that is shown. */
  who: (question: Asked, place: string) => ReactNode;
  acting: boolean;
  note: ReactNode;
  onSend: (answers: Record<string, string>) => void;
  onNext?: (() => void) | undefined;
}

/** Questions that were asked at once, one after the other; all answers are sent together. */
export function QuestionsForm({ questions, who, acting, note, onSend, onNext }: Props) {
  const [step, setStep] = useState(0);
  const [, setPaint] = useState(0);
  const at = Math.min(step, questions.length - 1);
  const asked = questions[at];
  if (!asked) return null;
  const draft = kept.get(asked.id) ?? noDraft;
  const set = (next: Draft) => {
    kept.set(asked.id, next);
    setPaint((n) => n + 1);
  };
  const last = at === questions.length - 1;
  const answered = questions.every((one) => isAnswered(kept.get(one.id) ?? noDraft));
  const submit = () => {
    if (!isAnswered(draft) || acting) return;
    if (!last) return setStep(at + 1);
    const missing = questions.findIndex((one) => !isAnswered(kept.get(one.id) ?? noDraft));
    if (missing >= 0) return setStep(missing);
    onSend(Object.fromEntries(questions.map((one) => [one.id, answerOf(one, kept.get(one.id) ?? noDraft)])));
  };
  return (
    <form
      className="flex min-h-full flex-1 flex-col gap-2 max-tab:gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {who(asked, questions.length > 1 ? `question ${at + 1} of ${questions.length}` : "")}
      <Title>{inert(asked.question)}</Title>
      <Options asked={asked} draft={draft} onPick={(label) => set(pick(draft, label, asked.multiSelect === true))} onOwn={(own) => set(write(draft, own))} />
      <Acts note={questions.length > 1 ? "All answers are sent together" : asked.multiSelect ? <>Several may be chosen. {note}</> : note}>
        <Button type="submit" look="primary" acting={acting} disabled={last ? !answered : !isAnswered(draft)} keys="Enter">
          {last ? (questions.length > 1 ? "Send answers" : "Send answer") : "Next question"}
        </Button>
        {at > 0 && <Button look="quiet" onClick={() => setStep(at - 1)}>Back</Button>}
        {onNext && <Button look="quiet" keys="n" onClick={onNext}>Next</Button>}
      </Acts>
    </form>
  );
}
