import { lazy, Suspense } from "react";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Skeleton } from "../../../ui/Skeleton";
import { Who, type DetailProps } from "./parts";

// Loaded when something waits: questions are most of it, the other kinds come together.
const QuestionDetail = lazy(() => import("./QuestionDetail").then((file) => ({ default: file.QuestionDetail })));
const OtherDetail = lazy(() => import("../details/OtherDetail").then((file) => ({ default: file.OtherDetail })));

/** The chosen item, and what can be done with it. */
export function Detail({ gone, ...props }: DetailProps & { gone: boolean }) {
  const asks = props.item.kind === "question";
  if (gone && !asks) return <Gone {...props} />;
  return (
    <Suspense fallback={<Skeleton rows={4} />}>
      {asks ? <QuestionDetail key={props.item.key} {...props} /> : <OtherDetail key={props.item.key} {...props} />}
    </Suspense>
  );
}

/** What was dealt with elsewhere, or went on by itself, while it was open here. */
function Gone({ item, onNext }: DetailProps) {
  return (
    <>
      <Who item={item} />
      <Title>{item.text}</Title>
      <p className="text-ink-2">This waits no more. Somebody dealt with it elsewhere, or it went on by itself.</p>
      <Acts note="Nothing was sent from here">{onNext && <Button keys="n" onClick={onNext}>Next</Button>}</Acts>
    </>
  );
}
