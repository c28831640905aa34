import { useId, useLayoutEffect, useRef, type ReactNode } from "react";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A dialog over the page, for making something new and for questions that end work. Escape closes it. */
export function Dialog({ title, onClose, children, wide }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const one = dialog.current;
    if (one && !one.open) one.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
      className={`m-auto ${wide ? "w-[min(52rem,calc(100vw-2rem))]" : "w-[min(34rem,calc(100vw-2rem))]"} max-h-[calc(100dvh-2rem)] overflow-auto rounded-dialog bg-raised p-0 text-ink shadow-pop backdrop:bg-black/25`}
    >
      <div className="grid gap-3 p-4">
        <h2 id={id} className="text-14 font-bold">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
