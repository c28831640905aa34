import { lazy, Suspense } from "react";
import { Skeleton } from "../../../ui/Skeleton";
import type { DetailProps } from "./parts";

// Loaded when something waits: questions are most of it, the other kinds come together.
const QuestionDetail = lazy(() => import("./QuestionDetail").then((file) => ({ default: file.QuestionDetail })));
const OtherDetail = lazy(() => import("../details/OtherDetail").then((file) => ({ default: file.OtherDetail })));
const Gone = lazy(() => import("./Gone").then((file) => ({ default: file.Gone })));

/** The chosen item, and what can be done with it. */
export function Detail({ gone, ...props }: DetailProps & { gone: boolean }) {
  const asks = props.item.kind === "question";
  const Kind = asks ? QuestionDetail : gone ? Gone : OtherDetail;
  return (
    <Suspense fallback={<Skeleton rows={4} />}>
      <Kind key={props.item.key} {...props} />
    </Suspense>
  );
}
