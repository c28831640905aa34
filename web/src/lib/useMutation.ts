import { useMutation as useObserved, type UseMutationOptions, type UseMutationResult } from "@tanstack/react-query";
import { useRef } from "react";

/**
 * useMutation whose function is that of the newest render. The library takes it
 * over after the page was painted, so that a key pressed before, as Enter after
 * the last letter, would send what was there before the letter.
 */
export function useMutation<Data = unknown, Failure = Error, In = void, Context = unknown>(options: UseMutationOptions<Data, Failure, In, Context>) {
  const newest = useRef(options.mutationFn);
  newest.current = options.mutationFn;
  return useObserved<Data, Failure, In, Context>({ ...options, mutationFn: (input, context) => newest.current?.(input, context) as Promise<Data> });
}

/** The mutate of a mutation that does nothing while one is under way: a second press is no second order. */
export function useOneAtATime<Data, Failure, In, Context>({ mutate }: Pick<UseMutationResult<Data, Failure, In, Context>, "mutate">): (input: In) => void {
  const busy = useRef(false);
  return (input) => {
    if (busy.current) return;
    busy.current = true;
    mutate(input, { onSettled: () => void (busy.current = false) });
  };
}
