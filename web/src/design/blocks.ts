import { css } from 'lit'

/** Styles for cards, callouts, lists and the small parts of text. Part of `controls`. */
export const blocks = css`
  .card {
    border: 1px solid var(--line);
    border-radius: var(--radius-lg);
    background: var(--surface);
    box-shadow: var(--shadow-low);
  }

  /* Link to the parent page. */
  .back {
    display: inline-flex;
    align-items: center;
    gap: var(--space-1);
    min-height: 2rem;
    margin-bottom: var(--space-3);
    font-size: var(--text-sm);
    text-decoration: none;
  }
  .back:hover {
    text-decoration: underline;
  }
  .back dg-icon {
    rotate: 180deg;
  }

  .callout {
    display: flex;
    gap: var(--space-2);
    padding: var(--space-3);
    border-radius: var(--radius-md);
    background: var(--danger-soft);
    color: var(--ink);
    font-size: var(--text-sm);
  }
  .callout > dg-icon {
    color: var(--danger);
    margin-top: 0.1em;
  }
  .callout.warning {
    background: var(--warning-soft);
  }
  .callout.warning > dg-icon {
    color: var(--warning);
  }

  /* A value that could not be reloaded, and bars in the place of one that is being loaded. */
  .stale {
    justify-content: space-between;
    gap: var(--space-2);
    margin-bottom: var(--space-3);
  }
  .waiting {
    height: 4rem;
    margin-bottom: var(--space-2);
    border-radius: var(--radius-md);
    background: var(--line);
    opacity: 0.5;
  }

  .intro {
    margin-bottom: var(--space-4);
  }
  .soft,
  .facts,
  .subhead,
  .heading {
    color: var(--ink-soft);
    font-size: var(--text-sm);
  }
  .subhead,
  .heading {
    font-weight: 600;
  }
  .subhead {
    margin: var(--space-4) 0 var(--space-2);
  }
  .subhead:first-child {
    margin-top: 0;
  }
  :where(.list) {
    display: grid;
    margin: 0;
    padding: 0;
    list-style: none;
  }
  .beside {
    display: flex;
    align-items: center;
    gap: var(--space-2);
  }
  .stack {
    display: grid;
    gap: var(--space-3);
  }
  .faint,
  .tiny {
    color: var(--ink-faint);
  }
  .tiny {
    font-size: var(--text-xs);
  }
  /* What few need, folded. */
  .optional {
    border-top: 1px solid var(--line);
    padding-top: var(--space-3);
  }
  .optional > summary {
    width: fit-content;
    border-radius: var(--radius-sm);
    color: var(--ink-soft);
    font-size: var(--text-sm);
    font-weight: 550;
    cursor: pointer;
  }
  .optional[open] > summary {
    margin-bottom: var(--space-3);
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-2) var(--space-3);
  }
  p.more {
    display: flex;
    justify-content: center;
    margin-top: var(--space-4);
  }
  .clamped {
    display: -webkit-box;
    overflow: hidden;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  .tag {
    padding: 0.05rem 0.45rem;
    border-radius: 999px;
    background: var(--sunken);
    color: var(--ink-soft);
    font-size: var(--text-xs);
    white-space: nowrap;
  }
  /* What is chosen, pressed or running. */
  .on,
  .flat:is([aria-pressed='true'], [aria-selected='true'], [aria-current]) {
    background: var(--accent-soft);
    color: var(--on-accent-soft);
  }
  :where(pre:not(.prose pre)) {
    margin: 0;
    padding: var(--space-3);
    border-radius: var(--radius-sm);
    background: var(--sunken);
    font: var(--text-sm) / 1.55 var(--font-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    overflow-y: auto;
  }
  .scroller {
    overflow-y: auto;
    scrollbar-width: thin;
    scrollbar-color: var(--line-strong) transparent;
  }
  :is(.scroller, .body):focus-visible {
    outline-offset: -2px;
  }
  mark {
    border-radius: 3px;
    background: var(--mark);
    color: inherit;
  }
  /* Below the field of a dialog that finds something. */
  .results {
    height: min(26rem, 55dvh);
    margin: var(--space-3) calc(-1 * var(--space-3)) 0;
    overflow-y: auto;
  }
  .popup {
    position: fixed;
    inset: auto;
    margin: 0;
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--raised);
    color: var(--ink);
    box-shadow: var(--shadow-high);
  }
  /* A note that lies over the top of the content. */
  .pill {
    position: absolute;
    top: var(--space-2);
    left: 50%;
    border: 1px solid var(--line);
    border-radius: 999px;
    background: var(--raised);
    transform: translateX(-50%);
  }
  .pulse {
    flex: none;
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: currentColor;
    animation: pulse 1.2s ease-in-out infinite;
  }
  @keyframes pulse {
    50% {
      opacity: 0.25;
      transform: scale(0.8);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .pulse {
      animation: none;
    }
  }

  kbd {
    display: inline-block;
    min-width: 1.6em;
    padding: 0.1em 0.45em;
    border: 1px solid var(--line);
    border-bottom-width: 2px;
    border-radius: var(--radius-sm);
    background: var(--sunken);
    color: var(--ink-soft);
    font: 500 var(--text-xs) / 1.5 var(--font);
    text-align: center;
  }

  /* With forced colours, pressed and unpressed buttons would look the same. */
  @media (forced-colors: active) {
    button[aria-pressed='true'] {
      background: Highlight !important;
      color: HighlightText !important;
      forced-color-adjust: none;
    }
  }

  .visually-hidden:not(:focus) {
    position: absolute;
    width: 1px;
    height: 1px;
    min-height: 0;
    padding: 0;
    border: 0;
    margin: -1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`
