export type ToastTone = 'done' | 'warning' | 'timer' | 'speaker'
export type ToastOptions = {
  /** Buttons on the toast. Each closes it. */
  readonly actions?: readonly { readonly label: string; readonly run: () => void }[]
  /** `Infinity` stays until it is closed. */
  readonly shownForMs?: number
  /** Called when the owner dismisses the toast or takes an action. */
  readonly onClose?: () => void
}
/** Shows a toast. Returns a function that removes it. */
export type Toaster = (text: string, tone?: ToastTone, options?: ToastOptions) => () => void
