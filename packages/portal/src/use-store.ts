import { useEffect, useReducer } from 'preact/hooks';

/** A value outside of the components, which are rendered again when it changes. */
export function useStore<Value>(subscribe: (listener: () => void) => () => void, read: () => Value): Value {
  const [, render] = useReducer<number, undefined>((count) => count + 1, 0);
  const value = read();
  useEffect(() => {
    const look = () => {
      if (read() !== value) render(undefined);
    };
    // It can have changed before this effect.
    look();
    return subscribe(look);
  }, [value]);
  return value;
}
