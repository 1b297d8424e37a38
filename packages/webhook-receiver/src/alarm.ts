/** Lets a loop sleep until there is work. */
export interface Alarm {
  /** Ends the wait, or the next one if none is running. */
  ring(): void;
  /** Resolves when the alarm rings, or after this time. */
  wait(maximumMs: number): Promise<void>;
}

export function alarm(): Alarm {
  let isRung = false;
  let end: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      end?.();
    },
    async wait(maximumMs) {
      if (!isRung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, maximumMs);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isRung = false;
    },
  };
}
