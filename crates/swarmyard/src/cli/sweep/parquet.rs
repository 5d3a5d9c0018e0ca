//! The table of a sweep as Parquet, for the tools of data analysis.
//!
//! One row group, uncompressed; every column may have empty places. The same table gives the same bytes.

use super::table::{Column, Table};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// The file's bytes.
pub(super) fn bytes(table: &Table) -> Result<Vec<u8>> {
    let fields = table.columns.iter().map(|(name, column)| field(name, column).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("sweep").with_fields(fields).build()?);
    let made_by = format!("swarmyard {}", env!("CARGO_PKG_VERSION"));
    let properties = Arc::new(WriterProperties::builder().set_created_by(made_by).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    let mut group = writer.next_row_group()?;
    for (_, column) in &table.columns {
        match column {
            Column::Int(v) => write::<Int64Type>(&mut group, v.clone())?,
            Column::Number(v) => write::<DoubleType>(&mut group, v.clone())?,
            Column::Bool(v) => write::<BoolType>(&mut group, v.clone())?,
            Column::Text(v) => {
                let texts = v.iter().map(|t| t.as_deref().map(ByteArray::from));
                write::<ByteArrayType>(&mut group, texts.collect())?;
            }
        }
    }
    group.close()?;
    writer.into_inner()
}

fn field(name: &str, column: &Column) -> Result<Type> {
    let (physical, logical) = match column {
        Column::Int(_) => (Physical::INT64, None),
        Column::Number(_) => (Physical::DOUBLE, None),
        Column::Bool(_) => (Physical::BOOLEAN, None),
        Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    field.with_logical_type(logical).build()
}

fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: Vec<Option<T::T>>,
) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&there, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}
