/**
 * A plugin of Yoga or Envelop. Not Yoga's type, which would add the global types of browsers to the apps, and allows every object
 * too. A file that imports Yoga would add them as well.
 */
export type InterfacePlugin = object;
