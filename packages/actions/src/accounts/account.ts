/** `Lender` of the lender interface, without its members. */
export interface Lender {
  id: string;
  name: string;
}

/** `Partner` of the partner interface. */
export interface Partner {
  id: string;
  name: string;
}
