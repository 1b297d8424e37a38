import { useSession } from '../session.ts';

/** A link to a page of the documentation. Nothing if the operator has not set its URL. */
export function Documentation({ page, children }: { page: string; children: string }) {
  const { documentationUrl } = useSession();
  if (documentationUrl === undefined) return null;
  return (
    <a href={`${documentationUrl}/${page}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
