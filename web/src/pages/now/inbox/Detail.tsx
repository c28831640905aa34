import { lazy, Suspense } from "react";
import { Button } from "../../../ui/Button";
import { Skeleton } from "../../../ui/Skeleton";
import { Acts, Title, Who, type DetailProps } from "./parts";
import { QuestionDetail } from "./QuestionDetail";

// Questions come first and are most of what waits; the other kinds are loaded when one is chosen.
const OtherDetail = lazy(() => import("../details/OtherDetail").then((file) => ({ default: file.OtherDetail })));

/** The chosen item, and what can be done with it. */
export function Detail({ gone, ...props }: DetailProps & { gone: boolean }) {
  if (props.item.kind === "question") return <QuestionDetail {...props} />;
  if (gone) return <Gone {...props} />;
  return (
    <Suspense fallback={<Skeleton rows={4} />}>
      <OtherDetail key={props.item.key} {...props} />
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
