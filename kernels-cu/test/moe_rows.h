// Where the rows of an MoE call lie, and what the call must do to the bank.
#pragma once

#include <string>

#include "moe_case.h"

namespace test {

// Multiprocessors, and shared memory that a block may have.
struct Card {
  int multiprocessors;
  int sharedBytes;

  pool::TokenGrid grid(const MoeGeometry& g) const { return {g.topK, g.hidden, g.width, multiprocessors}; }
  // Beside the planner's block.
  pool::TokenGrid poolGrid(const MoeGeometry& g) const { return {g.topK, g.hidden, g.width, multiprocessors - 1}; }
};

inline size_t decodeWords(const MoeGeometry& g, const Card& card) {
  const pool::TokenGrid grid = card.grid(g);  // that of a pool fits only where this does
  return pool::decodeCounts(g.hidden) + (grid.fits(card.sharedBytes) ? grid.exchangeWords() : 0);
}

enum class RowsIn {
  kBank,       // all rows are there
  kOddMissed,  // those of odd experts are on the host, and kept in the bank
  kHost,       // the host's rows are the bank
};

enum class Kernels { kAligned, kDecode, kToken };

// A way through the kernels.
struct MoeWay {
  std::string name;
  Kernels kernels;
  int blockLanes;  // decode 1 .. 8; aligned 8, 16 or 32
  RowsIn rows = RowsIn::kBank;
  int hostLanes = 1;  // decode: as blockLanes, for rows on the host

  bool aligned() const { return kernels == Kernels::kAligned; }
  // `card`: what the kernel for one token would run on.
  bool takes(const MoeGeometry& g, int tokens, const Card& card) const {
    if (kernels == Kernels::kToken) return tokens == 1 && card.grid(g).fits(card.sharedBytes);
    return aligned() || tokens * g.topK <= pool::kMaxDecodeLanes;
  }
  int mostLanes() const { return std::max(blockLanes, aligned() ? 0 : hostLanes); }
};

inline std::vector<MoeWay> moeWays() {
  return {{"decode-1", Kernels::kDecode, 1},
          {"decode-8", Kernels::kDecode, 8},
          {"decode-1-missed-1", Kernels::kDecode, 1, RowsIn::kOddMissed, 1},
          {"decode-8-missed-3", Kernels::kDecode, 8, RowsIn::kOddMissed, 3},
          {"decode-1-host-4", Kernels::kDecode, 1, RowsIn::kHost, 4},
          {"token", Kernels::kToken, 1},
          {"token-missed", Kernels::kToken, 1, RowsIn::kOddMissed},
          {"token-host", Kernels::kToken, 1, RowsIn::kHost},
          {"aligned-8", Kernels::kAligned, 8},
          {"aligned-16", Kernels::kAligned, 16},
          {"aligned-32", Kernels::kAligned, 32},
          {"aligned-16-host", Kernels::kAligned, 16, RowsIn::kHost}};
}

// Rows and tables of one call.
struct CallRows {
  CallRows(const MoeCase& c, const std::vector<int32_t>& ids, RowsIn in) : rowBytes(c.rowBytes()), bank(c.bank), expertRows(c.expertRows) {
    if (in != RowsIn::kBank) {
      host.resize(c.g.experts * rowBytes);
      for (int e = 0; e < c.g.experts; ++e) std::memcpy(&host[e * rowBytes], &c.bank[c.expertRows[e] * rowBytes], rowBytes);
    }
    if (in == RowsIn::kHost) {
      bank.clear();
      for (int e = 0; e < c.g.experts; ++e) expertRows[e] = e;
    }
    if (in == RowsIn::kOddMissed) {
      for (int e = 1; e < c.g.experts; e += 2) std::memset(&bank[c.expertRows[e] * rowBytes], 0xff, rowBytes);
    }
    after = bank;
    for (int32_t id : ids) {
      const bool valid = id >= 0 && id < c.g.experts;
      const bool missed = valid && (in == RowsIn::kHost || (in == RowsIn::kOddMissed && id % 2 == 1));
      rows.push_back(valid ? expertRows[id] : 0x7fffffff);
      missRows.push_back(missed ? expertRows[id] : -1);
      if (missed && !bank.empty()) std::memcpy(&after[expertRows[id] * rowBytes], &host[id * rowBytes], rowBytes);
    }
  }

  const size_t rowBytes;
  std::vector<uint8_t> bank;   // before the call, with poison where rows are missed; empty: the host's rows are the bank
  std::vector<uint8_t> host;   // [experts]; empty: nothing is on the host
  std::vector<uint8_t> after;  // the bank after the call
  std::vector<int32_t> expertRows;
  std::vector<int32_t> rows, missRows;  // [lanes]
};

}  // namespace test
