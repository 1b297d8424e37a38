import { readText } from './workspace-files.ts';

/** What `docs/errors.md` says of a code. */
export interface DocumentedError {
  code: string;
  /** The status with `application/graphql-response+json`. */
  status: number;
  /** The status with `application/json`. */
  jsonStatus: number;
  /** The first sentence. */
  meaning: string;
}

/**
 * The codes of `docs/errors.md`, in its order.
 *
 * @throws Error for a section that does not begin with its statuses
 */
export function readErrorPage(): DocumentedError[] {
  const [, ...sections] = readText('docs/errors.md').split(/^## /m);
  return sections.map((section) => {
    const [, code, status, jsonStatus = status, meaning] =
      /^(\w+)\n\n(\d{3})(?: · (\d{3}))?(?:;[^.]*)?\. (.*?\.)(?:\s|$)/s.exec(section) ?? [];
    if (code === undefined || meaning === undefined) throw new Error(`docs/errors.md: ${section.split('\n')[0]}`);
    return { code, status: Number(status), jsonStatus: Number(jsonStatus), meaning };
  });
}
