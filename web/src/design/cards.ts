import { css } from 'lit'

/** A list of cards, such as notes, memories or timers, or of rows without frames. */
export const cards = css`
  /* The search of a list, and a button beside it. */
  .find {
    flex-wrap: wrap;
    margin-bottom: var(--space-4);
  }
  .find .input-with-icon {
    flex: 1 1 10rem;
  }
  .find .button {
    min-height: 2.75rem;
    white-space: nowrap;
  }
  ul.cards {
    gap: var(--space-2);
  }
  ul.cards > li {
    display: flex;
    align-items: flex-start;
    gap: var(--space-3);
    padding: var(--space-3) var(--space-3) var(--space-3) var(--space-4);
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--surface);
  }
  li.over {
    color: var(--ink-soft);
  }
  /* Rows: what it is, then its buttons, below each other where there is no room. */
  .rows > li {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
    min-height: 2.75rem;
    padding: var(--space-3) 0;
  }
  .rows > li:last-child {
    padding-bottom: 0;
  }
  .rows > li + li {
    border-top: 1px solid var(--line);
  }
  .rows .what {
    flex-basis: 14rem;
  }
  .what {
    flex: 1;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .what > p:first-child {
    font-weight: 550;
  }
  .what > p:not(.facts) {
    unicode-bidi: plaintext;
  }
  /* Facts flow like text, separated by dots that screen readers skip. */
  .facts > :not(:last-child, :empty)::after {
    content: ' · ' / '';
  }
  /* Wraps only if it is wider than the card. */
  .facts > time {
    display: inline-block;
  }
  .facts > .tag {
    margin-inline-end: var(--space-2);
  }
  .facts > .tag::after {
    content: none;
  }
  .heading {
    margin: var(--space-5) 0 var(--space-2);
  }
  [slot='tools'] + .heading,
  .back + .heading {
    margin-top: 0;
  }
`
