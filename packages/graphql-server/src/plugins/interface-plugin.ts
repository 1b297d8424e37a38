/**
 * A plugin of Yoga or Envelop. Not Yoga's type, which would add the global types of browsers to the apps, and allows every object
 * too.
 */
export type InterfacePlugin = object;
