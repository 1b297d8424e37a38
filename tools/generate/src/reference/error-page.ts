import { docsFolder } from '../platform-folders.ts';
import { readText } from '../workspace-files.ts';

const page = `${docsFolder}/errors.md`;

/** An error code as `docs/errors.md` documents it. */
export interface DocumentedError {
  code: string;
  /** The HTTP status of an `application/graphql-response+json` response. */
  status: number;
  /** The HTTP status of an `application/json` response. */
  jsonStatus: number;
  /** The first sentence of its section. */
  meaning: string;
}

/**
 * Reads the error codes of `docs/errors.md`, in the order of the page.
 *
 * @throws {Error} if a section does not begin with its HTTP statuses
 */
export function readErrorPage(): DocumentedError[] {
  const [, ...sections] = readText(page).split(/^## /m);
  return sections.map((section) => {
    const [, code, status, jsonStatus = status, meaning] =
      /^(\w+)\n\n(\d{3})(?: · (\d{3}))?(?:;[^.]*)?\. (.*?\.)(?:\s|$)/s.exec(section) ?? [];
    if (code === undefined || meaning === undefined)
      throw new Error(`${page}: section ${section.split('\n')[0]} must begin with its HTTP statuses`);
    return { code, status: Number(status), jsonStatus: Number(jsonStatus), meaning };
  });
}
