import { useEffect, useId, useReducer, useRef, useState, type ReactNode, type RefObject } from "react";
import { useKeys, type Key } from "../app/keys";
import { inert } from "../lib/words";
import { Acts, Title } from "../ui/Acts";
import { Button } from "../ui/Button";
import { answerOf, draftOf, isAnswered, keepDraft, pick, write, type Asked, type Draft } from "./drafts";
import { focusAnswer } from "./focusAnswer";
import { Options } from "./Options";

interface Props {
  /** Asked at once, and answered at once. */
  questions: Asked[];
  /** Before the question that is shown: who asks; place is "question 2 of 3", or empty. */
  head?: ((asked: Asked, place: string) => ReactNode) | undefined;
  acting: boolean;
  /** What an answer does. */
  note: ReactNode;
  /** The word of the button that sends. */
  send?: string;
  /** Question id → answer, as the daemon takes it. */
  onSend: (answers: Record<string, string>) => void;
  /** Leads on to something else that waits. */
  onNext?: (() => void) | undefined;
  /** Between the options and the buttons: what is said beside the answers. */
  children?: ReactNode;
  /** Further buttons. */
  acts?: ReactNode;
}

/** Questions that were asked at once, one after the other; all answers are sent together. */
export function QuestionForm({ questions, head, acting, note, send, onSend, onNext, children, acts }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const title = useId();
  const [step, setStep] = useState(0);
  const [, paint] = useReducer((n: number) => n + 1, 0);
  const last = questions.length - 1;
  const at = Math.min(step, last);
  useFocusAtStep(form, at);
  useQuestionKeys(form, questions[at], !onNext && last > 0 ? () => setStep(at === last ? 0 : at + 1) : undefined);
  const asked = questions[at];
  if (!asked) return null;
  const draft = draftOf(asked.id);
  const set = (next: Draft) => {
    keepDraft(asked.id, next);
    paint();
  };
  const missing = questions.findIndex((one) => !isAnswered(draftOf(one.id)));
  const submit = () => {
    if (!isAnswered(draft) || acting) return;
    if (at < last) setStep(at + 1);
    else if (missing >= 0) setStep(missing);
    else onSend(Object.fromEntries(questions.map((one) => [one.id, answerOf(one, draftOf(one.id))])));
  };
  return (
    <form
      ref={form}
      className="flex min-h-full flex-1 flex-col gap-2 max-tab:gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {head?.(asked, last > 0 ? `question ${at + 1} of ${questions.length}` : "")}
      <Title id={title}>{inert(asked.question)}</Title>
      <Options asked={asked} draft={draft} title={title} onPick={(label) => set(pick(asked, draft, label))} onOwn={(own) => set(write(asked, draft, own))} />
      {at === last && children}
      <Acts note={last > 0 ? "All answers are sent together" : asked.multiSelect ? <>Several may be chosen. {note}</> : note}>
        <Button type="submit" look="primary" acting={acting} disabled={!isAnswered(draft)} keys="Enter">
          {at < last ? "Next question" : (send ?? (last > 0 ? "Send answers" : "Send answer"))}
        </Button>
        {at === last && acts}
        {at > 0 && <Button look="quiet" onClick={() => setStep(at - 1)}>Back</Button>}
        {onNext && <Button look="quiet" keys="n" onClick={onNext}>Next</Button>}
      </Acts>
    </form>
  );
}

/** Puts the focus into the question that is shown now, when it was in the one before. */
function useFocusAtStep(form: RefObject<HTMLFormElement | null>, at: number): void {
  const before = useRef(at);
  useEffect(() => {
    if (before.current === at) return;
    before.current = at;
    focusAnswer(form.current);
  }, [form, at]);
}

/** Numbers pick, "o" leads to own words, from wherever one is on the page. */
function useQuestionKeys(form: RefObject<HTMLFormElement | null>, asked: Asked | undefined, next: (() => void) | undefined): void {
  const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector);
  const keys = (asked?.options ?? []).slice(0, 9).map((_, i): Key => ({
    key: String(i + 1),
    does: `pick option ${i + 1}`,
    run: () => {
      const option = find(`[data-option="${i + 1}"]`);
      option?.focus();
      option?.click();
    },
  }));
  useKeys("Question", [...keys, { key: "o", does: "own words", run: () => find("[data-own]")?.focus() }, ...(next ? [{ key: "n", does: "next question", run: next }] : [])]);
}
