import type { Schema } from "../../../api/client";
import { clockTime, inert } from "../../../lib/words";
import { answerInWords } from "../../../questions/drafts";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import type { Item } from "./items";
import { Who } from "./parts";

/** Questions that are open no more: who answered what, or why they were withdrawn. */
export function AnsweredQuestions({ item, questions, onNext }: { item: Item; questions: Schema<"QuestionView">[]; onNext?: (() => void) | undefined }) {
  return (
    <>
      <Who item={item} />
      {questions.map((one) => (
        <div key={one.id} className="grid gap-1">
          <Title>{inert(one.question)}</Title>
          <p className="flex items-start gap-1.5">
            <Icon name={one.status === "answered" ? "s-idle" : "s-dismissed"} className={one.status === "answered" ? "mt-0.5 text-done" : "mt-0.5 text-ink-3"} />
            {one.status === "answered" ? (
              <span className="min-w-0 break-words">
                {one.answeredBy || "Somebody"} answered{one.answeredAt ? ` at ${clockTime(one.answeredAt)}` : ""}: <b className="font-mid">{inert(answerInWords(one.answer ?? ""))}</b>
              </span>
            ) : (
              <span>It needs no answer any more{one.reason ? `: ${inert(one.reason)}` : "."}</span>
            )}
          </p>
        </div>
      ))}
      <Acts note="Nothing was sent from here">{onNext && <Button type="button" keys="n" onClick={onNext}>Next</Button>}</Acts>
    </>
  );
}
