import { type ComponentProps, createContext, type ReactNode, type SyntheticEvent, useContext } from 'react';
import type { UserError } from '../use-mutation.ts';
import { Advice } from './text.tsx';

/** The user errors that the fields of a form show. */
export const UserErrors = createContext<readonly UserError[]>([]);

export function Errors({ of }: { of: readonly UserError[] }) {
  const texts = of.map(({ message }) => <Advice key={message} text={message} />);
  return (
    texts.length > 0 && (
      <p className="error" role="alert">
        {texts}
      </p>
    )
  );
}

/** A labelled control with the user errors of its input field, which is called as its label is in `name`. */
function Field({ name, label, control }: { name?: string | undefined; label: string; control: ReactNode }) {
  const errors = useContext(UserErrors).filter(({ field }) => field?.[1] === name);
  return (
    <label className="field">
      {label}
      {control}
      <Errors of={errors} />
    </label>
  );
}

export function Input({ label, ...rest }: ComponentProps<'input'> & { label: string }) {
  return <Field {...rest} label={label} control={<input autoComplete="off" spellCheck={false} {...rest} />} />;
}

export type Option = readonly [value: string, label: string];

type SelectProps = ComponentProps<'select'> & { label: string; options: readonly Option[]; value?: string };

/** Also offers a value, for example of a URL, that is not among the options. */
export function Select({ label, options, value, ...rest }: SelectProps) {
  const all =
    value === undefined || options.some(([each]) => each === value) ? options : [...options, [value, value] as const];
  const list = all.map(([each, text]) => <option key={each} value={each} label={text} />);
  return (
    <Field
      {...rest}
      label={label}
      control={
        <select {...rest} value={value}>
          {list}
        </select>
      }
    />
  );
}

/** The fields of a form by their name, without spaces around them. */
export type Values = Readonly<Record<string, string>>;

export function onSubmit(use: (values: Values) => Promise<void> | void) {
  return (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const texts = Array.from(new FormData(event.currentTarget), ([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() : '',
    ]);
    void use(Object.fromEntries(texts));
  };
}
