import { type ComponentChildren, createContext, type TargetedEvent } from 'preact';
import { useContext, useId } from 'preact/hooks';
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
export function Field(props: { name?: string | undefined; label: string; control: ComponentChildren }) {
  const { name, label, control } = props;
  const errors = useContext(UserErrors).filter(({ field }) => field?.[1] === name);
  return (
    <label className="field">
      {label}
      {control}
      <Errors of={errors} />
    </label>
  );
}

interface InputProps {
  readonly label: string;
  readonly name: string;
  readonly defaultValue?: string;
  readonly placeholder?: string;
  readonly pattern?: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  /** What the pattern means. */
  readonly title?: string;
}

export function Input({ label, name, ...rest }: InputProps) {
  const control = <input name={name} autocomplete="off" spellcheck={false} {...rest} />;
  return <Field name={name} label={label} control={control} />;
}

export type Option = readonly [value: string, label: string];

interface SelectProps {
  readonly label: string;
  readonly options: readonly Option[];
  readonly name?: string;
  readonly value?: string;
  readonly onChange?: (event: TargetedEvent<HTMLSelectElement>) => void;
  readonly onBlur?: () => void;
}

/** Also offers a value, for example of a URL, that is not among the options. */
export function Select({ label, options, name, value, ...rest }: SelectProps) {
  const all =
    value === undefined || options.some(([each]) => each === value) ? options : [...options, [value, value] as const];
  const list = all.map(([each, text]) => <option key={each} value={each} label={text} />);
  return (
    <Field
      name={name}
      label={label}
      control={
        <select name={name} value={value} {...rest}>
          {list}
        </select>
      }
    />
  );
}

interface ChoicesProps {
  readonly label: string;
  /** Of the input field. Each choice is a field of the form with the name of its value. */
  readonly name: string;
  readonly choices: readonly (readonly [value: string, label: string, about: string])[];
  /** Chosen for good. */
  readonly fixed: string;
}

export function Choices({ label, name, choices, fixed }: ChoicesProps) {
  const id = useId();
  const errors = useContext(UserErrors).filter(({ field }) => field?.[1] === name);
  return (
    <fieldset className="field" name={name}>
      <legend>{label}</legend>
      {choices.map(([value, text, about]) => (
        <div key={value} className="choice">
          <input
            id={`${id}${value}`}
            type="checkbox"
            name={value}
            autocomplete="off"
            aria-describedby={`${id}about${value}`}
            {...(value === fixed && { checked: true, disabled: true })}
          />
          <div>
            <label htmlFor={`${id}${value}`}>{text}</label>
            <small id={`${id}about${value}`}>{about}</small>
          </div>
        </div>
      ))}
      <Errors of={errors} />
    </fieldset>
  );
}

/** The fields of a form by their name, without spaces around them. */
export type Values = Readonly<Record<string, string>>;

export function onSubmit(use: (values: Values) => Promise<void> | void) {
  return (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const texts = Array.from(new FormData(event.currentTarget), ([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() : '',
    ]);
    void use(Object.fromEntries(texts));
  };
}
