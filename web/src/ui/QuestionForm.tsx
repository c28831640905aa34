import { useId, useState } from "react";
import type { Schema } from "../api/client";
import { inert } from "../lib/words";
import { Button } from "./Button";

type Question = Schema<"Question">;

interface Props {
  /** Asked at once, and answered at once. */
  questions: Question[];
  /** Question id → answer, for POST /v1/answers. */
  onAnswer: (answers: Record<string, string>) => void;
  acting?: boolean;
  /** What will happen, beside the button. */
  says: string;
}

interface Draft {
  chosen: string[];
  text: string;
}

/** What a draft answers; "": nothing yet. Own words go before options. */
export function answerOf(question: Pick<Question, "multiSelect">, draft: Draft | undefined): string {
  const text = draft?.text.trim() ?? "";
  if (text !== "") return text;
  const chosen = draft?.chosen ?? [];
  if (chosen.length === 0) return "";
  return question.multiSelect ? JSON.stringify(chosen) : (chosen[0] as string);
}

/** Questions of an agent with their options, and room for own words. */
export function QuestionForm({ questions, onAnswer, acting, says }: Props) {
  const [drafts, setDrafts] = useState<Record<string, Draft>>({});
  const answers = questions.map((one) => [one.id, answerOf(one, drafts[one.id])] as const);
  const ready = answers.every(([, answer]) => answer !== "");
  return (
    <form
      className="grid grid-cols-[minmax(0,1fr)] gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !acting) onAnswer(Object.fromEntries(answers));
      }}
    >
      {questions.map((one) => (
        <Choice key={one.id} question={one} draft={drafts[one.id] ?? { chosen: [], text: "" }} onDraft={(draft) => setDrafts((all) => ({ ...all, [one.id]: draft }))} />
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" type="submit" disabled={!ready} acting={acting === true}>Answer</Button>
        <span className="text-12 text-ink-3">{says}</span>
      </div>
    </form>
  );
}

function Choice({ question, draft, onDraft }: { question: Question; draft: Draft; onDraft: (draft: Draft) => void }) {
  const id = useId();
  const toggle = (label: string) => {
    const rest = draft.chosen.filter((one) => one !== label);
    if (!question.multiSelect) onDraft({ ...draft, chosen: [label], text: "" });
    else onDraft({ ...draft, chosen: rest.length < draft.chosen.length ? rest : [...rest, label] });
  };
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <legend className="mb-1 font-mid whitespace-pre-line break-words">{inert(question.question)}</legend>
      {(question.options ?? []).map((option) => (
        <label key={option.label} className="flex items-start gap-2 rounded-box border border-line-2 px-2.5 py-1 hover:bg-hover has-checked:border-ink has-checked:bg-select max-tab:min-h-11 max-tab:items-center">
          <input type={question.multiSelect ? "checkbox" : "radio"} name={id} checked={draft.chosen.includes(option.label)} onChange={() => toggle(option.label)} className="mt-1 accent-ink max-tab:mt-0" />
          <span className="min-w-0 break-words">
            <span className="font-mid">{inert(option.label)}</span>
            {option.description && <span className="text-ink-2"> {inert(option.description)}</span>}
          </span>
        </label>
      ))}
      <input
        aria-label={`Own words for: ${question.question}`}
        placeholder={(question.options ?? []).length > 0 ? "Or in your own words" : "Your answer"}
        value={draft.text}
        onInput={(event) => onDraft({ ...draft, text: event.currentTarget.value })}
        className="h-(--control) min-w-0 rounded-box border border-line-2 bg-sunken px-2.5 placeholder:text-ink-3"
      />
    </fieldset>
  );
}
