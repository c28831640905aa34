import { Problem, wordsOf } from "../api/problem";
import { Button } from "./Button";
import { Icon } from "./Icon";

/** What could not be read or done, and what to do. The rest of the page works. */
export function Failure({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const gone = error instanceof Problem && error.status === 404;
  return (
    <div role="alert" className="m-4 flex items-start gap-2 rounded-box border border-fail/45 bg-fail-bg px-3 py-2">
      <Icon name="s-error" className="mt-0.5 text-fail" />
      <p className="min-w-0 flex-1 break-words">
        <b className="font-mid">{what}.</b> {wordsOf(error)}
      </p>
      {onRetry && !gone && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
