# SPDX-License-Identifier: BSD-3-Clause
"""What is fuzzed: a name, and a function of a source of randomness and a folder."""

from fuzz import target_estimators, target_models, target_tables

TARGETS = {
    "read_table": target_tables.table_case,
    "read_batches": target_tables.batches_case,
    "readers": target_tables.readers_case,
    "cache": target_tables.cache_case,
    "model_bytes": target_models.bytes_case,
    "model_parts": target_models.parts_case,
    "checkpoints": target_models.checkpoints_case,
    "fit": target_estimators.fit_case,
    "partial_fit": target_estimators.stream_case,
    "fit_stream": target_estimators.fit_stream_case,
    "classifier": target_estimators.classifier_case,
    "metrics": target_estimators.metrics_case,
}
