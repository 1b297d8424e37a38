// Removes what Chrome 123, Firefox 120 or Safari 17.5 does not have.
const newer = [
  [globalThis, 'Temporal scheduler navigation cookieStore requestIdleCallback Float16Array CloseWatcher URLPattern'],
  [Promise, 'withResolvers try'],
  [Set.prototype, 'union intersection difference symmetricDifference isSubsetOf isSupersetOf isDisjointFrom'],
  [
    Object.getPrototypeOf(Object.getPrototypeOf([].values())),
    'map filter take drop flatMap reduce toArray forEach some every find',
  ],
  [URL, 'parse'],
  [AbortSignal, 'any'],
  [ReadableStream, 'from'],
  [ReadableStream.prototype, 'values'],
  [Response.prototype, 'bytes'],
  [Blob.prototype, 'bytes'],
  [RegExp, 'escape'],
  [Uint8Array, 'fromBase64 fromHex'],
  [Uint8Array.prototype, 'toBase64 toHex setFromBase64 setFromHex'],
  [ArrayBuffer.prototype, 'transfer transferToFixedLength'],
  [Map.prototype, 'getOrInsert getOrInsertComputed'],
  [Intl, 'DurationFormat Segmenter'],
  [Error, 'isError captureStackTrace'],
  [JSON, 'rawJSON isRawJSON'],
  [Math, 'sumPrecise f16round'],
  [Document.prototype, 'startViewTransition'],
  [Element.prototype, 'moveBefore setHTML setHTMLUnsafe'],
  [HTMLDialogElement.prototype, 'requestClose closedBy'],
];
for (const [owner, names] of newer) for (const name of names.split(' ')) Reflect.deleteProperty(owner, name);
Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator);
