/** Types in a sentence: `a Customer or an Order`. */
export function withArticles(types: readonly string[]): string {
  return types.map((type) => `${/^[aeiou]/i.test(type) ? 'an' : 'a'} ${type}`).join(' or ');
}
