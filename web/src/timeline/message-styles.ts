import { css } from 'lit'

/** A message and its tools. */
export const messageStyles = css`
  .message {
    display: flex;
    flex-direction: column;
    border-radius: var(--radius-md);
  }
  .message.owner {
    flex-flow: row-reverse wrap;
    align-items: center;
    gap: 0 var(--space-2);
    padding: var(--space-1) 0;
  }
  .message.guest {
    align-items: flex-start;
    padding-top: var(--space-1);
  }
  .author {
    padding: 0 var(--space-2) 0.2rem;
    color: var(--ink-soft);
    font-size: var(--text-xs);
    font-weight: 600;
  }
  .words {
    max-width: 100%;
  }
  .owner .words,
  .guest .words {
    max-width: min(78%, 34rem);
    padding: 0.5rem 0.9375rem;
    border-radius: var(--radius-lg) var(--radius-lg) 5px var(--radius-lg);
    background: var(--accent-soft);
    color: var(--on-accent-soft);
  }
  .guest .words {
    border: 1px solid var(--line);
    border-radius: var(--radius-lg) var(--radius-lg) var(--radius-lg) 5px;
    background: var(--surface);
    color: var(--ink);
  }
  .owner .erased {
    color: inherit;
  }
  .delegate .words {
    padding: 0.25rem 0;
  }
  .typed {
    unicode-bidi: plaintext;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .queued .words,
  .pending .words {
    opacity: 0.75;
  }
  .message footer {
    gap: 0 var(--space-2);
    min-height: 1.875rem;
    font-variant-numeric: tabular-nums;
  }
  /* Items that show only on hover come last, so that they leave no gap. */
  .message:is(:not(.owner), .queued) footer :is(.implied, .tools) {
    order: 1;
  }
  .owner footer {
    flex-direction: row-reverse;
  }
  .owner footer > .button {
    margin-block: var(--space-1);
  }
  .pending footer {
    flex: 1 0 100%;
    flex-flow: row wrap;
    justify-content: flex-end;
    padding-top: var(--space-1);
  }
  .show-all {
    align-self: flex-start;
    margin-top: var(--space-2);
  }
  .owner .show-all {
    flex: none;
    order: 2;
  }
  .tools {
    display: inline-flex;
    visibility: hidden;
  }
  .implied {
    opacity: 0;
  }
  .message:is(:hover, :focus, :focus-within) .implied,
  .notice:is(:hover, :focus) .implied {
    opacity: 1;
  }
  .message:is(:hover, :focus, :focus-within) .tools,
  .span:is(:hover, :focus-within) .tools {
    visibility: visible;
  }
  /* A narrow page has room for one thing beside the owner's words. */
  @media (max-width: 40rem) {
    .owner footer time,
    .owner .tools > .button {
      display: none;
    }
  }
  /* Without hover, a tap on the message shows its tools. */
  @media (hover: none) {
    .span .tools {
      visibility: visible;
      opacity: 0.7;
    }
    /* The tap that shows the tools must not press one of them. */
    .message .tools {
      transition: visibility 0s 0.3s;
    }
  }
`
