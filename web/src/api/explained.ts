/** An error whose message is for the owner. */
export class Explained extends Error {
  override readonly name = 'Explained'
}
