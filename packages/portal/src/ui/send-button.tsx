import type { ComponentProps } from 'preact';

type SendButtonProps = ComponentProps<'button'> & { readonly isSending: boolean };

/** The main button of a form or a page. It sends once at a time, and keeps the focus, which a disabled button loses in some browsers. */
export function SendButton({ isSending, onClick, ...rest }: SendButtonProps) {
  return (
    <button
      {...rest}
      className="first"
      aria-disabled={isSending}
      // Enter in a field of the form clicks too.
      onClick={(event) => (isSending ? event.preventDefault() : onClick?.(event))}
    />
  );
}
