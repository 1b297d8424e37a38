/** The description of an element, preceded by its deprecation reason. */
export function described(part: {
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
}): string {
  const deprecation = part.deprecationReason ? `**Deprecated:** ${part.deprecationReason} ` : '';
  return `${deprecation}${part.description ?? ''}`;
}
