const stringOrComment = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*/g;

/**
 * Replaces each comment of a document by a space. Every other token keeps its line and its column, because a comment is the
 * last of its line. The space keeps a carriage return before the comment apart from a line feed after it.
 *
 * The lexer creates a token for each comment, which does not count for the token limit: 100 kB of comments take 4 MB of
 * memory and up to 60 ms of CPU.
 */
export function withoutComments(query: string): string {
  if (!query.includes('#')) return query;
  return query.replace(stringOrComment, (text) => (text.startsWith('#') ? ' ' : text));
}
