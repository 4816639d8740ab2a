import { css } from 'lit'

/** A card among the rows of the timeline, with a heading and buttons. */
export const cardStyles = css`
  :host {
    max-width: 36rem;
    margin: var(--space-2) 0;
    border-radius: var(--radius-md);
  }
  section {
    padding: var(--space-3) var(--space-4) var(--space-4);
    border: 1px solid var(--line-strong);
    border-radius: var(--radius-md);
    background: var(--surface);
  }
  .title {
    font-size: var(--text-md);
    font-weight: 600;
  }
`
