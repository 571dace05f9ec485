"use strict";
// Eq. 2 on the stored similarities, for the slider alone: the page opens on the run's own scores.
// float32 values add up exactly in double precision, so sums and ties depend on no order.

/** The float32 [N, N+1] matrix of a document: row = prediction, last column = the reference. */
function decodeSimilarity(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

/**
 * Score of each candidate: the other voters' agreement plus alpha times the reference's. `votes` and
 * `eligible` are truth values; NaN for a candidate that cannot be elected.
 */
function consensusScores(similarity, votes, eligible, alpha) {
  const count = votes.length;
  const scores = [];
  for (let row = 0; row < count; row += 1) {
    const start = row * (count + 1);
    const reference = similarity[start + count];
    let peers = 0;
    let voters = 0;
    for (let column = 0; column < count; column += 1) {
      if (column === row || !votes[column]) continue;
      peers += similarity[start + column];
      voters += 1;
    }
    const score = alpha === Infinity ? reference : (peers + alpha * reference) / (voters + alpha);
    scores.push(eligible[row] ? score : NaN);
  }
  return scores;
}

/** Candidate indices, best first, those without a score last; equal ones keep their order. */
function ranking(scores) {
  const none = scores.map(Number.isNaN);
  return scores.map((_, index) => index)
    .sort((a, b) => none[a] - none[b] || scores[b] - scores[a] || 0);
}

/** Alpha at which the reference has `share` (0 to 1) of the vote. */
function alphaOfShare(share, count) {
  return share >= 1 ? Infinity : ((count - 1) * share) / (1 - share);
}

/** The reference's share of the vote at alpha. */
function shareOfAlpha(alpha, count) {
  return alpha === Infinity ? 1 : alpha / (count - 1 + alpha);
}

/** A number at least 0, or Infinity for "inf"; null for anything else. */
function readAlpha(text) {
  if (text === null || text.trim() === "") return null;
  if (/^\.?inf(inity)?$/i.test(text.trim())) return Infinity;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

function alphaText(alpha) {
  if (alpha === Infinity) return "∞";
  return alpha >= 100 ? alpha.toFixed(0) : String(Number(alpha.toPrecision(3)));
}
