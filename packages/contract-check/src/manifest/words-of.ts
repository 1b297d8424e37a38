/** Splits the name of a limit into its words: `firstMinimum` into `first` and `minimum`. */
export function wordsOf(name: string): Set<string> {
  const spaced = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll(/[^A-Za-z\d]+/g, ' ');
  return new Set(spaced.toLowerCase().split(' '));
}
