/** Throws. For values that a test needs: `rows[0] ?? missing()`. */
export function missing(): never {
  throw new Error('A value that the test needs is missing.');
}
